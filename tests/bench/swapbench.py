"""Requests that fail, and latency, while a module is replaced again and again under full load. Trying a new generation
out and loading it happens on the gateway's own CPU here: the load leaves it nothing, so this is the worst case."""
import contextlib
import os
import shutil
import statistics
import sys
import time

from rig import Rig, WrkRun, connect, get_on
from table import Goal, Table

PERIOD = 0.1  # seconds from one replacement to the next


class Swapper:
    """Puts two builds of a module into a directory in turn, each written beside it and renamed. `value`: what the last
    one marks responses with."""

    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.value = 2

    def swap(self):
        self.value = 3 - self.value
        fresh = self.directory.with_name("fresh.so")
        shutil.copyfile(self.build / f"tests/functional/fixtures/hello-{self.value}/hello.so", fresh)
        os.rename(fresh, self.directory / "hello.so")

    def swap_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.swap()
            time.sleep(PERIOD)


def replaced(weir):
    return weir.log.read_text().count(" replaces its last generation: ")


def wait_for(weir, value, seconds=60):
    """Until responses are marked with it."""
    end = time.monotonic() + seconds
    with contextlib.closing(connect(weir.port)) as connection:
        while get_on(connection).getheader("x-hello") != str(value):
            if time.monotonic() > end:
                sys.exit(f"weir does not take the module:\n{weir.log.read_text()}")
            time.sleep(0.01)


def run(options):
    connections = options.connections or 64
    loads = {name: {"p99s": [], "requests": 0, "failed": 0, "replaced": 0} for name in ("left alone", "replaced")}
    with Rig(options.build) as rig:
        directory = rig.work / "ext"
        directory.mkdir()
        swapper = Swapper(options.build, directory)
        swapper.swap()
        weir = rig.proxy("weir", ext=directory)
        wait_for(weir, swapper.value)
        for _ in range(options.rounds):
            for name, sums in loads.items():
                before = replaced(weir)
                load = WrkRun(weir.port, connections, options.seconds)
                if name == "replaced":
                    swapper.swap_for(options.seconds)
                load.result()
                wait_for(weir, swapper.value)
                sums["p99s"].append(load.p99_us / 1000)
                sums["requests"] += load.requests
                sums["failed"] += load.failed
                sums["replaced"] += replaced(weir) - before
        if not loads["replaced"]["replaced"]:
            sys.exit(f"no generation of the module was replaced:\n{weir.log.read_text()}")
    table = Table("swap", f"A module replaced every {PERIOD * 1000:.0f} ms under {connections} connections",
                  ["module", "p99 ms", "requests", "failed", "replaced"])
    for name, sums in loads.items():
        table.add(module=name, p99_ms=statistics.median(sums.pop("p99s")), **sums)
    table.failed = sum(sums["failed"] for sums in loads.values())
    table.goals = [Goal("failed requests", table.failed, 0)]
    return [table]
