"""From starting the process to the first answered request, each time a new process; its CPU time until then. All of
Weir's core modules load."""
import statistics
import time

from rig import Rig, free_port
from table import Goal, Table


def start(rig, name):
    """Milliseconds, and those of CPU."""
    port = free_port()
    command = rig.command(name, port)
    began = time.monotonic()
    server = rig.start(name, port, command)
    took = (time.monotonic() - began) * 1000
    cpu = server.cpu_us() / 1000
    rig.stop(server)
    return took, cpu


def run(options):
    count = 1 if options.quick else 2 * options.rounds
    table = Table("start", "From exec to the first answered request",
                  ["target", "median ms", "longest ms", "CPU ms", "starts"])
    with Rig(options.build) as rig:
        for name in ("nginx", "haproxy", "weir"):
            took, cpu = zip(*(start(rig, name) for _ in range(count)))
            table.add(target=name, median_ms=statistics.median(took), longest_ms=max(took),
                      cpu_ms=statistics.median(cpu), starts=count)
    table.goals = [Goal("ms to the first answered request, median", table.rows[-1]["median_ms"], 150)]
    return [table]
