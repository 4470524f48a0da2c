"""Requests that fail, and latency, while a module is replaced again and again under full load. Trying a new generation
out and loading it happens on the gateway's own CPU here: the load leaves it nothing, so this is the worst case."""
import os
import shutil
import statistics
import time

from rig import Rig, WrkRun
from table import Goal, Table

PERIOD = 0.1  # seconds from one replacement to the next


class Swapper:
    """Puts two builds of a module into a directory in turn, each written beside it and renamed."""

    def __init__(self, build, directory):
        self.builds = [build / f"tests/functional/fixtures/hello-{number}/hello.so" for number in (1, 2)]
        self.directory = directory
        self.count = 0

    def swap(self):
        fresh = self.directory.with_name("fresh.so")
        shutil.copyfile(self.builds[self.count % 2], fresh)
        os.rename(fresh, self.directory / "hello.so")
        self.count += 1

    def swap_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.swap()
            time.sleep(PERIOD)


def wait_for_module(weir):
    while " serves: Plugin hello" not in weir.log.read_text():
        if weir.process.poll() is not None:
            raise SystemExit(f"weir ended with exit code {weir.process.returncode}:\n{weir.log.read_text()}")
        time.sleep(0.01)


def replaced(weir):
    return weir.log.read_text().count(" replaces its last generation: ")


def run(options):
    connections = options.connections or 64
    table = Table("swap", f"a module replaced every {PERIOD * 1000:.0f} ms under {connections} connections",
                  ["load", "p99 ms", "requests", "failed", "replaced"])
    p99s = {"left alone": [], "replaced": []}
    counts = {name: [0, 0, 0] for name in p99s}
    with Rig(options.build) as rig:
        directory = rig.work / "ext"
        directory.mkdir()
        swapper = Swapper(options.build, directory)
        swapper.swap()
        weir = rig.proxy("weir", ext=directory)
        wait_for_module(weir)
        for _ in range(options.rounds):
            for name, seconds in (("left alone", 0), ("replaced", options.seconds)):
                before = replaced(weir)
                load = WrkRun(weir.port, connections, options.seconds)
                swapper.swap_for(seconds)
                load.result()
                p99s[name].append(load.p99_us / 1000)
                for i, value in enumerate((load.requests, load.failed, replaced(weir) - before)):
                    counts[name][i] += value
    for name, (requests, failed, swaps) in counts.items():
        table.add(load=name, p99_ms=statistics.median(p99s[name]), requests=requests, failed=failed, replaced=swaps)
        table.failed += failed
    table.goals = [Goal("failed requests", table.failed, 0),
                   Goal("swaps that were meant and did not happen", swapper.count - 1 - sum(c[2] for c in counts.values()),
                        0, gating=False)]
    return [table]
