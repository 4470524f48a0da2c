"""What one more plugin in the chain costs, beside a bare indirect call: bin/hop_bench, whose source says how."""
from rig import output_of
from table import Goal, Table

LIMITS = {"plain plugin": 3, "coroutine plugin": 15}


def run(options):
    rounds, exchanges = (2, 2000) if options.quick else (6 * options.rounds, 20000)
    table = Table("hop", "One plugin's hop", ["hop", "ns", "x call"])
    for line in output_of(options.build / "bin/hop_bench", rounds, exchanges).splitlines()[1:]:
        name, ns, ratio = line.rsplit(None, 2)
        table.add(hop=name, ns=float(ns), x_call=float(ratio))
        if limit := LIMITS.get(name.partition(",")[0]):
            table.goals.append(Goal(f"{name}, x a bare indirect call", float(ratio), limit))
    return [table]
