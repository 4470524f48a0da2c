#!/usr/bin/env python3
"""CPU cost of one proxied HTTP/1.1 request through Weir's default chain, beside nginx, HAProxy and a raw forwarder.

All targets proxy the same nginx backend. Load (wrk) and backend run on CPU 0, the target on CPU 1. The targets take
turns, round after round, so that drift of a shared machine hits all alike. The figure is the target's own CPU time (all
its threads) divided by the requests it answered: it holds on a noisy machine where requests per second do not. Printed:
the median over the rounds, and each target's ratio to nginx and to the raw forwarder (the floor), taken round by round.

Start it with tests/bench/run.sh, which installs and builds what it needs. All on loopback; it stops what it started.
Exit code 1 when a request through Weir failed.
"""
import argparse
import json
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOAD_CPU, TARGET_CPU = 0, 1
(BACKEND_PORT, NGINX_PORT, HAPROXY_PORT, WEIR_PORT, RAW_PORT, MANAGEMENT_PORT, RULES_PORT,
 RULES_MANAGEMENT_PORT) = range(18080, 18088)

BACKEND = """worker_processes 1; daemon off; pid {work}/backend.pid; error_log {work}/backend.err;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
  server {{ listen 127.0.0.1:{backend} backlog=4096; location / {{ default_type text/plain; return 200 "{body}"; }} }} }}
"""

NGINX = """worker_processes 1; daemon off; pid {work}/proxy.pid; error_log {work}/proxy.err;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
  upstream b {{ server 127.0.0.1:{backend}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_pass http://b; }} }} }}
"""

HAPROXY = """global
  nbthread 1
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option forwardfor
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  http-reuse always
  server s1 127.0.0.1:{backend}
"""

WEIR = """weir:
  server: {{address: 127.0.0.1, port: {port}, threads: 1}}
  management: {{port: {management}}}
  extPlugin: {{enabled: false}}
plugins:
  - name: contextPath
    selectors:
      - name: orders
        conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
        rules:
          - name: strip
            conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
            handle: {{contextPath: /http}}
  - name: divide
    selectors:
      - name: orders
        conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
        handle: [{{upstreamUrl: "127.0.0.1:{backend}", weight: 50}}]
        rules:
          - name: all
            conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
            handle: {{loadBalance: roundRobin, retry: 3, timeout: 3000}}
"""
RULES_OF_A_SELECTOR = 100


def other_selectors(rules, backend):
    """Selectors with that many rules in all, none of which matches what is asked for; all come before the one that does."""
    condition = "[{{paramType: uri, operator: pathPattern, paramValue: \"{}\"}}]".format
    text = ""
    for first in range(0, rules, RULES_OF_A_SELECTOR):
        text += (f"      - name: s{first}\n        sort: -1\n        conditions: {condition(f'/service{first}/**')}\n"
                 f"        handle: [{{upstreamUrl: \"127.0.0.1:{backend}\", weight: 50}}]\n        rules:\n")
        for rule in range(first, min(first + RULES_OF_A_SELECTOR, rules)):
            text += f"          - {{name: r{rule}, conditions: {condition(f'/service{first}/path{rule}/**')}}}\n"
    return text


class Target:
    """A proxy on TARGET_CPU and what its rounds gave."""

    def __init__(self, name, port, command):
        self.name, self.port = name, port
        self.process = start(TARGET_CPU, command)
        self.costs, self.p99s, self.requests, self.failed = [], [], 0, 0

    def run_round(self, args):
        before = cpu_ns(self.process.pid)
        requests, failed, p99 = wrk(self.port, args, args.seconds)
        self.costs.append((cpu_ns(self.process.pid) - before) / 1000 / max(requests, 1))
        self.p99s.append(p99)
        self.requests += requests
        self.failed += failed

    def row(self, bases):
        row = {"target": self.name, "cpu_us_per_request": round(statistics.median(self.costs), 2),
               "requests": self.requests, "failed": self.failed, "pss_kib": pss_kib(self.process.pid),
               "p99": self.p99s}
        for base in bases:
            row[f"vs_{base.name}"] = round(statistics.median(x / y for x, y in zip(self.costs, base.costs)), 2)
        return row


def descendants(pid):
    """The process and all below it: nginx and HAProxy work in children."""
    found, queue = [], [pid]
    while queue:
        process = queue.pop()
        found.append(process)
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                queue += [int(child) for child in children.read_text().split()]
            except OSError:
                pass  # it ended between the two looks
    return found


def cpu_ns(pid):
    total = 0
    for process in descendants(pid):
        for stat in Path(f"/proc/{process}/task").glob("*/schedstat"):
            try:
                total += int(stat.read_text().split()[0])
            except OSError:
                pass
    return total


def pss_kib(pid):
    total = 0
    for process in descendants(pid):
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += int(re.search(r"Pss:\s+(\d+)", text).group(1))
        except (OSError, AttributeError):
            pass
    return total


def start(cpu, command):
    return subprocess.Popen(["taskset", "-c", str(cpu), *map(str, command)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def in_use(port):
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until_up(name, port, process, seconds=60):
    end = time.monotonic() + seconds
    while not in_use(port):
        if process.poll() is not None:
            sys.exit(f"{name} ended with exit code {process.returncode} instead of listening on port {port}")
        if time.monotonic() > end:
            sys.exit(f"{name} does not listen on port {port}")
        time.sleep(0.05)


def wrk(port, args, seconds):
    """Requests answered, requests failed (status or socket), 99th percentile as wrk prints it."""
    out = subprocess.run(["taskset", "-c", str(LOAD_CPU), "wrk", "-t1", f"-c{args.connections}", f"-d{seconds}",
                          "--latency", f"http://127.0.0.1:{port}{args.path}"], capture_output=True, text=True).stdout
    requests = re.search(r"(\d+) requests in", out)
    if not requests:
        sys.exit(f"wrk measured nothing on port {port}:\n{out}")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    failed = (int(bad.group(1)) if bad else 0) + (sum(map(int, errors.groups())) if errors else 0)
    p99 = re.search(r"(?m)^\s+99%\s+(\S+)", out)
    return int(requests.group(1)), failed, p99.group(1) if p99 else "?"


def start_backend(work, body):
    config = work / "backend.conf"
    config.write_text(BACKEND.format(work=work, backend=BACKEND_PORT, body="x" * body))
    process = start(LOAD_CPU, ["nginx", "-c", config, "-e", work / "backend.err"])
    wait_until_up("the backend", BACKEND_PORT, process)
    return process


def start_targets(work, args, started):
    """Appends to `started` as it goes, so that what runs can be stopped when a later one fails."""

    def config(name, text, port):
        path = work / name
        path.write_text(text.format(work=work, backend=BACKEND_PORT, port=port, management=MANAGEMENT_PORT))
        return path

    if "nginx" in args.peers:
        conf = config("proxy.conf", NGINX, NGINX_PORT)
        started.append(Target("nginx", NGINX_PORT, ["nginx", "-c", conf, "-e", work / "proxy.err"]))
    if "haproxy" in args.peers:
        conf = config("haproxy.cfg", HAPROXY, HAPROXY_PORT)
        started.append(Target("haproxy", HAPROXY_PORT, ["haproxy", "-db", "-f", conf]))
    if "raw" in args.peers:
        subprocess.run(["g++", "-O2", "-std=c++20", HERE / "raw_forwarder.cpp", "-o", work / "raw"], check=True)
        started.append(Target("raw", RAW_PORT, [work / "raw", RAW_PORT, BACKEND_PORT]))
    if args.weir:
        conf = config("weir.yaml", WEIR, WEIR_PORT)
        started.append(Target("weir", WEIR_PORT, [args.weir, "run", "-c", conf]))
        if args.rules:
            many = WEIR.format(backend=BACKEND_PORT, port=RULES_PORT, management=RULES_MANAGEMENT_PORT)
            many += other_selectors(args.rules - 1, BACKEND_PORT)
            path = work / "rules.yaml"
            path.write_text(many)
            started.append(Target("weir-rules", RULES_PORT, [args.weir, "run", "-c", path]))
    for target in started:
        wait_until_up(target.name, target.port, target.process)


def stop(processes):
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def report(rows):
    print(f"{'target':12}{'cpu us/req':>12}{'x nginx':>10}{'x raw':>10}{'x weir':>10}{'requests':>12}{'failed':>8}"
          f"{'PSS KiB':>10}  p99 by round")
    for row in rows:
        print(f"{row['target']:12}{row['cpu_us_per_request']:>12}{row.get('vs_nginx', ''):>10}"
              f"{row.get('vs_raw', ''):>10}{row.get('vs_weir', ''):>10}{row['requests']:>12}{row['failed']:>8}{row['pss_kib']:>10}"
              f"  {' '.join(row['p99'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", help="the weir binary; without it only the others are measured")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=3, help="of load for each target and round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--body", type=int, default=64, help="bytes of each answer")
    parser.add_argument("--rules", type=int, default=0,
                        help="also measure weir with that many rules, all but one for other paths")
    parser.add_argument("--path", default="/http/order/findById?id=1")
    parser.add_argument("--peers", default="nginx,haproxy,raw", type=lambda text: text.split(","))
    parser.add_argument("--json", help="also write the rows to this file")
    args = parser.parse_args()
    for port in range(BACKEND_PORT, RULES_MANAGEMENT_PORT + 1):
        if in_use(port):
            sys.exit(f"port {port} is in use already; the bench needs {BACKEND_PORT} to {RULES_MANAGEMENT_PORT}")

    backend, targets = None, []
    with tempfile.TemporaryDirectory(prefix="proxybench-") as directory:
        work = Path(directory)
        try:
            backend = start_backend(work, args.body)
            start_targets(work, args, targets)
            for target in targets:
                wrk(target.port, args, 1)  # fills the pools
            for _ in range(args.rounds):
                for target in targets:
                    target.run_round(args)
            rows = [target.row([t for t in targets if t.name in ("nginx", "raw", "weir")]) for target in targets]
        finally:
            stop([t.process for t in targets] + ([backend] if backend else []))
    report(rows)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    sys.exit(any(row["failed"] for row in rows if row["target"] == "weir"))


main()
