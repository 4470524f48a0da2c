"""Latency while requests come at a fixed rate, by h2load: one that all targets can serve, else the answers a second
fall behind it and their queues are what is measured. The targets take turns."""
import subprocess
import sys

from rig import LOAD_CPUS, PATH, Rig, run_on
from table import Table

CLIENTS = 64


def h2load(rig, server, rate, seconds):
    """Latencies in microseconds, ascending; how many requests failed."""
    log = rig.work / "h2load.tsv"
    log.unlink(missing_ok=True)  # h2load appends
    run_on(LOAD_CPUS, "h2load", "--h1", "--clients", CLIENTS, "--rps", rate / CLIENTS, "--duration", f"{seconds * 1000:.0f}ms",
           f"--log-file={log}", f"http://127.0.0.1:{server.port}{PATH}", stdout=subprocess.DEVNULL)
    answers = [line.split("\t") for line in log.read_text().splitlines()]
    return sorted(int(us) for _, status, us in answers if status == "200"), sum(a[1] != "200" for a in answers)


def below(us, share):
    """What that share of the ascending latencies is below."""
    return us[int(len(us) * share)]


def run(options):
    table = Table("latency", f"Latency at {options.rate:,} requests a second over {CLIENTS} connections",
                  ["target", "p50 us", "p99 us", "p99.9 us", "answers/s", "failed"])
    with Rig(options.build) as rig:
        servers = [rig.proxy(name) for name in ("raw", "nginx", "haproxy", "weir")]
        latencies = {server.name: [] for server in servers}
        failures = dict.fromkeys(latencies, 0)
        for _ in range(options.rounds):
            for server in servers:
                answered, failed = h2load(rig, server, options.rate, options.seconds)
                latencies[server.name] += answered
                failures[server.name] += failed
    for name, us in latencies.items():
        if not us:
            sys.exit(f"{name} answered nothing with 200 at {options.rate} requests a second")
        us.sort()
        table.add(target=name, p50_us=below(us, 0.5), p99_us=below(us, 0.99), p99_9_us=below(us, 0.999),
                  answers_s=round(len(us) / options.rounds / options.seconds), failed=failures[name])
    table.failed = failures["weir"]
    return [table]
