"""CPU per request of servers that take turns under the same load.

Round after round, so that drift of a shared machine hits all alike. The figure is a server's own CPU time (all its
threads) divided by the requests it answered: it holds on a noisy machine where requests per second do not.
"""
import statistics
import sys

from rig import LOAD_CPUS, PATH, wrk

TRIES = 5


class Cost:
    def __init__(self, server, connections):
        self.server, self.connections = server, connections
        self.rounds, self.p99s, self.requests, self.failed = [], [], 0, 0

    def run(self, seconds, path, cpus):
        """A round; again when a machine that others keep busy left it no time for an answer."""
        for _ in range(TRIES):
            before = self.server.cpu_us()
            load = wrk(self.server.port, self.connections, seconds, path, cpus)
            self.requests += load.requests
            self.failed += load.failed
            if load.requests:
                self.rounds.append((self.server.cpu_us() - before) / load.requests)
                self.p99s.append(load.p99_us)
                return
        sys.exit(f"{self.server.name} answered nothing in {TRIES} rounds, {self.failed} requests failed")

    def us(self):
        return statistics.median(self.rounds)

    def p99_ms(self):
        return statistics.median(self.p99s) / 1000

    def versus(self, other):
        """The median of the ratios, taken round by round."""
        return statistics.median(mine / its for mine, its in zip(self.rounds, other.rounds))


def measure(loads, rounds, seconds, path=PATH, cpus=LOAD_CPUS):
    """Cost by the servers' names. `loads`: servers and how many connections each gets. Each is loaded once before it
    counts: that fills its pools."""
    costs = {server.name: Cost(server, connections) for server, connections in loads}
    for server, connections in loads:
        wrk(server.port, connections, min(seconds, 1), path, cpus)
    for _ in range(rounds):
        for cost in costs.values():
            cost.run(seconds, path, cpus)
    return costs
