"""CPU per request with one event loop and with two. Both have all CPUs, and so has the load: what is compared is the
gateway's own time, which the same load makes comparable."""
from cost import measure
from rig import ALL_CPUS, Rig
from table import Goal, Table


def run(options):
    with Rig(options.build) as rig:
        one, two = (rig.proxy("weir", label=f"weir, {loops} loop{'s' * (loops > 1)}", threads=loops, cpus=ALL_CPUS)
                    for loops in (1, 2))
        costs = measure([one, two], options.connections or 64, options.rounds, options.seconds, cpus=ALL_CPUS)
    table = Table("loops", "CPU per request by number of event loops",
                  ["target", "us/request", "x 1 loop", "requests", "failed", "p99 ms"])
    for cost in costs.values():
        table.add(target=cost.server.name, us_request=cost.us(), x_1_loop=cost.versus(costs[one.name]),
                  requests=cost.requests, failed=cost.failed, p99_ms=cost.p99_ms())
        table.failed += cost.failed
    table.goals = [Goal("CPU per request, 2 loops x 1", costs[two.name].versus(costs[one.name]), 1.05)]
    return [table]
