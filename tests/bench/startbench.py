"""From starting the process to the first answered request, each time a new process. All of Weir's core modules load."""
import statistics
import time

from rig import Rig, TARGET_CPUS, Server, free_port
from table import Goal, Table


def start_ms(rig, name):
    port = free_port()
    command = rig.command(name, port)
    began = time.monotonic()
    server = Server(name, port, command, rig.work / f"{name}.log", TARGET_CPUS)
    rig.servers.append(server)
    server.wait_until_it_answers()
    took = (time.monotonic() - began) * 1000
    rig.stop(server)
    return took


def run(options):
    times = 1 if options.quick else 2 * options.rounds
    table = Table("start", "from exec to the first answered request", ["target", "median ms", "longest ms", "starts"])
    with Rig(options.build) as rig:
        for name in ("nginx", "haproxy", "weir"):
            took = [start_ms(rig, name) for _ in range(times)]
            table.add(target=name, median_ms=statistics.median(took), longest_ms=max(took), starts=times)
    table.goals = [Goal("ms to the first answered request, median", statistics.median(took), 150)]  # weir's
    return [table]
