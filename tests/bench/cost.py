"""CPU per request of servers that take turns under the same load.

Round after round, so that drift of a shared machine hits all alike. The figure is a server's own CPU time (all its
threads) divided by the requests it answered: it holds on a noisy machine where requests per second do not.
"""
import statistics

from rig import LOAD_CPUS, PATH, wrk


class Cost:
    def __init__(self, server):
        self.server = server
        self.rounds, self.p99s, self.requests, self.failed = [], [], 0, 0

    def run(self, connections, seconds, path, cpus):
        before = self.server.cpu_us()
        load = wrk(self.server.port, connections, seconds, path, cpus)
        self.rounds.append((self.server.cpu_us() - before) / max(load.requests, 1))
        self.p99s.append(load.p99_us)
        self.requests += load.requests
        self.failed += load.failed

    def us(self):
        return statistics.median(self.rounds)

    def p99_ms(self):
        return statistics.median(self.p99s) / 1000

    def versus(self, other):
        """The median of the ratios, taken round by round."""
        return statistics.median(mine / its for mine, its in zip(self.rounds, other.rounds))


def measure(servers, connections, rounds, seconds, path=PATH, cpus=LOAD_CPUS):
    """Cost by the servers' names. Each is loaded once before it counts: that fills its pools."""
    costs = {server.name: Cost(server) for server in servers}
    for server in servers:
        wrk(server.port, connections, min(seconds, 1), path, cpus)
    for _ in range(rounds):
        for cost in costs.values():
            cost.run(connections, seconds, path, cpus)
    return costs
