"""CPU per request with one event loop and with two, each loop with as many connections. Both gateways have all CPUs,
and so has the load: what is compared is their own time, which a like load makes comparable."""
from cost import measure
from rig import ALL_CPUS, Rig
from table import Goal, Table


def run(options):
    connections = options.connections or 64
    with Rig(options.build) as rig:
        one = rig.proxy("weir", label="weir, 1 loop", threads=1, cpus=ALL_CPUS)
        two = rig.proxy("weir", label="weir, 2 loops", threads=2, cpus=ALL_CPUS)
        costs = measure([(one, connections), (two, 2 * connections)], options.rounds, options.seconds, cpus=ALL_CPUS)
    table = Table("loops", f"{connections} connections for each event loop",
                  ["target", "us/request", "x 1 loop", "requests", "failed", "p99 ms"])
    for cost in costs.values():
        table.add(target=cost.server.name, us_request=cost.us(), x_1_loop=cost.versus(costs[one.name]),
                  requests=cost.requests, failed=cost.failed, p99_ms=cost.p99_ms())
        table.failed += cost.failed
    table.goals = [Goal("CPU per request, 2 loops x 1", costs[two.name].versus(costs[one.name]), 1.05)]
    return [table]
