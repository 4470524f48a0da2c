"""What one more plugin in the chain costs, beside a bare indirect call: bin/hop_bench, whose source says how. The goals
are for what the SDK's tables cost when called; walked, the host's matching, counting and marks come on top."""
from rig import output_of
from table import Goal, Table

LIMITS = {"plain plugin, called": 3, "coroutine plugin, called": 15}


def run(options):
    rounds, exchanges = (2, 2000) if options.quick else (6 * options.rounds, 20000)
    table = Table("hop", "One plugin's hop", ["hop", "ns", "x call"])
    for line in output_of(options.build / "bin/hop_bench", rounds, exchanges).splitlines()[1:]:
        name, ns, ratio = line.rsplit(None, 2)
        table.add(hop=name, ns=float(ns), x_call=float(ratio))
        if limit := LIMITS.get(name):
            table.goals.append(Goal(f"{name}, x a bare indirect call", float(ratio), limit))
    return [table]
