"""What the benches share: servers that are started, waited for and stopped, what they cost, and loads on them.

A Rig owns a directory and every server it started; leaving its `with` stops them. All listen on loopback, on ports that
were free. Where there are two CPUs or more, load and backend run on the first, the measured server on the second.
"""
import contextlib
import http.client
import math
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PATH = "/http/order/findById?id=1"
MAX_HELD = 12000  # connections that each server is configured for
CPUS = sorted(os.sched_getaffinity(0))
LOAD_CPUS, TARGET_CPUS, ALL_CPUS = (CPUS[:1], CPUS[1:2], CPUS) if len(CPUS) > 1 else (CPUS, CPUS, CPUS)

os.environ["PATH"] += ":/usr/sbin"  # where Debian has nginx and haproxy, which not every user's PATH names

# nginx's own places for these are root's.
NGINX_DIRECTORIES = """client_body_temp_path {work}/body; proxy_temp_path {work}/proxied;
  fastcgi_temp_path {work}/fastcgi; uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;"""

BACKEND = """worker_processes 1; daemon off; pid {work}/backend.pid; error_log {work}/backend.err;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
  """ + NGINX_DIRECTORIES + """
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ default_type text/plain; set $k "{kibibyte}"; return 200 "{body}"; }} }} }}
"""

NGINX = """worker_processes 1; daemon off; pid {work}/proxy.pid; error_log {work}/proxy.err;
events {{ worker_connections {held}; }}
http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  """ + NGINX_DIRECTORIES + """
  upstream b {{ server 127.0.0.1:{backend}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_pass http://b; }} }} }}
"""

HAPROXY = """global
  nbthread 1
  maxconn {held}
  no strict-limits
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 60s
  option forwardfor
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  http-reuse always
  server s1 127.0.0.1:{backend}
"""

WEIR_SETTINGS = """weir:
  server: {{address: 127.0.0.1, port: {port}, threads: {threads}, keepAliveTimeout: 600s}}
  management: {{port: 0}}
  extPlugin: {extPlugin}
plugins:
"""
WEIR_PLUGIN = """  - name: {name}
    selectors:
      - name: orders
        conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
        handle: {selector}
        rules:
          - name: all
            conditions: [{{paramType: uri, operator: pathPattern, paramValue: /http/**}}]
            handle: {rule}
"""
OTHER_SELECTOR = """      - name: s{number}
        sort: -1
        conditions: [{{paramType: uri, operator: pathPattern, paramValue: "/service{number}/**"}}]
        handle: {selector}
        rules:
"""
OTHER_RULE = """          - name: r{number}
            conditions: [{{paramType: uri, operator: pathPattern, paramValue: "/service{selector}/path{number}/**"}}]
"""
RULES_OF_A_SELECTOR = 100


def weir_config(backend, port, threads, rules, ext):
    """Weir's default chain: what runs without data (cross, global, httpClient, response) and four plugins with a rule
    each. The last is divide's, which gets the other rules: none of them matches, all come before the one that does."""
    upstream = f'[{{upstreamUrl: "127.0.0.1:{backend}", weight: 50}}]'
    ext_plugin = f"{{path: {ext}, scheduleTime: 300, settleMs: 5}}" if ext else "{enabled: false}"
    text = WEIR_SETTINGS.format(port=port, threads=threads, extPlugin=ext_plugin)
    for name, selector, rule in (
            ("contextPath", "~", "{contextPath: /http}"),
            ("rewrite", "~", '{regex: "/order/(.*)", replace: "/orders/$1"}'),
            ("modifyResponse", "~", "{setHeaders: {x-gateway: weir}}"),
            ("divide", upstream, "{loadBalance: roundRobin, retry: 3, timeout: 3000}")):
        text += WEIR_PLUGIN.format(name=name, selector=selector, rule=rule)
    for number in range(rules - 1):
        first = number - number % RULES_OF_A_SELECTOR
        if number == first:
            text += OTHER_SELECTOR.format(number=first, selector=upstream)
        text += OTHER_RULE.format(selector=first, number=number)
    return text


class Server:
    """A process that listens, and its children: nginx and HAProxy work in theirs."""

    def __init__(self, name, port, command, log, cpus):
        self.name, self.port, self.log = name, port, log
        with open(log, "wb") as output:
            self.process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output,
                                            preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def wait_until_it_answers(self, path=PATH, seconds=60):
        """Returns with the first answer; ends the bench when none comes or it is an error."""
        end = time.monotonic() + seconds
        while (status := status_of(self.port, path)) is None:
            if self.process.poll() is not None:
                sys.exit(f"{self.name} ended with exit code {self.process.returncode} instead of answering:\n"
                         f"{self.log.read_text()}")
            if time.monotonic() > end:
                sys.exit(f"{self.name} does not answer on port {self.port} within {seconds} s")
            time.sleep(0.0005)
        if status != 200:
            sys.exit(f"{self.name} answers {status} instead of 200 to GET {path}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def family(self):
        found, queue = [], [self.process.pid]
        while queue:
            process = queue.pop()
            found.append(process)
            for children in Path(f"/proc/{process}/task").glob("*/children"):
                with contextlib.suppress(OSError):  # it ended between the two looks
                    queue += [int(child) for child in children.read_text().split()]
        return found

    def cpu_us(self):
        """CPU time of all its threads so far."""
        total = 0
        for process in self.family():
            for stat in Path(f"/proc/{process}/task").glob("*/schedstat"):
                with contextlib.suppress(OSError):
                    total += int(stat.read_text().split()[0])
        return total / 1000

    def memory_bytes(self, kind="Pss"):
        """Its memory; what it shares with others counts by its share. Pss_Anon leaves out files that are mapped: how
        many others share those changes while it runs."""
        total = 0
        for process in self.family():
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process}/smaps_rollup").read_text()
                total += int(re.search(rf"(?m)^{kind}:\s+(\d+)", text).group(1))
        return total * 1024


class Rig:
    def __init__(self, build, body=64):
        self.build, self.body = Path(build), body

    def __enter__(self):
        self.servers = []
        with contextlib.ExitStack() as stack:
            self.work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-bench-")))
            stack.callback(lambda: [server.stop() for server in reversed(self.servers)])
            self.backend = free_port()
            # nginx takes words of 4 KiB at most.
            config = self.config("backend.conf", BACKEND, self.backend, kibibyte="x" * 1024,
                                 body="$k" * (self.body // 1024) + "x" * (self.body % 1024))
            self.start("backend", self.backend, ["nginx", "-c", config, "-e", self.work / "backend.err"], LOAD_CPUS)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.stack.close()

    def config(self, name, text, port, **values):
        path = self.work / name
        path.write_text(text.format(work=self.work, port=port, **values))
        return path

    def start(self, name, port, command, cpus=TARGET_CPUS):
        server = Server(name, port, command, self.work / f"{name}.log", cpus)
        self.servers.append(server)
        server.wait_until_it_answers()
        return server

    def stop(self, server):
        self.servers.remove(server)
        server.stop()

    def command(self, name, port, threads=1, rules=1, ext=None):
        """How nginx, haproxy, raw or weir is started as a proxy of the backend; writes its configuration."""
        if name == "raw":
            return [self.build / "bin/raw_forwarder", port, self.backend]
        if name == "nginx":
            config = self.config("proxy.conf", NGINX, port, backend=self.backend, held=MAX_HELD)
            return ["nginx", "-c", config, "-e", self.work / "proxy.err"]
        if name == "haproxy":
            config = self.config("haproxy.cfg", HAPROXY, port, backend=self.backend, held=MAX_HELD)
            return ["haproxy", "-db", "-f", config]
        config = self.work / f"weir-{port}.yaml"
        config.write_text(weir_config(self.backend, port, threads, rules, ext))
        return [self.build / "bin/weir", "run", "-c", config]

    def proxy(self, name, label=None, cpus=TARGET_CPUS, **settings):
        """A proxy that answers, under `label`."""
        port = free_port()
        return self.start(label or name, port, self.command(name, port, **settings), cpus)


def free_port():
    """One that nobody listens on, below those that the system gives to clients."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port


def connect(port):
    """A connection for get_on(), which opens it."""
    return http.client.HTTPConnection("127.0.0.1", port, timeout=10)


def get_on(connection, path=PATH):
    """The response, whose body was read."""
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response


def status_of(port, path=PATH):
    """On a connection of its own; None when nobody listens or it was closed instead of an answer."""
    with contextlib.closing(connect(port)) as connection:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return get_on(connection, path).status


def allow_descriptors(wanted):
    """For this process and those it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            sys.exit(f"at most {hard} descriptors are allowed (ulimit -Hn), {wanted} are needed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run_on(cpus, *command, **settings):
    """Runs it to its end; ends the bench when it fails."""
    finished = subprocess.run([str(word) for word in command], preexec_fn=lambda: os.sched_setaffinity(0, cpus),
                              text=True, **settings)
    if finished.returncode:
        sys.exit(f"{command[0]} ended with exit code {finished.returncode}")
    return finished


def output_of(*command):
    """What it prints when it has the measured servers' CPU."""
    return run_on(TARGET_CPUS, *command, stdout=subprocess.PIPE).stdout


class WrkRun:
    """wrk's load from construction until result(): `requests`, `failed` (status or socket), `p99_us`."""

    def __init__(self, port, connections, seconds, path=PATH, cpus=LOAD_CPUS):
        self.seconds = seconds
        self.process = subprocess.Popen(
            ["wrk", "-t1", f"-c{connections}", f"-d{math.ceil(seconds)}", "--latency", "--timeout", "10s",
             f"http://127.0.0.1:{port}{path}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def result(self):
        try:
            out, _ = self.process.communicate(timeout=self.seconds if self.seconds % 1 else None)
        except subprocess.TimeoutExpired:  # wrk knows whole seconds only
            self.process.send_signal(signal.SIGINT)
            out, _ = self.process.communicate()
        requests = re.search(r"(\d+) requests in", out)
        p99 = re.search(r"(?m)^\s+99%\s+([\d.]+)(us|ms|s)", out)
        if not requests or not p99:
            sys.exit(f"wrk measured nothing:\n{out}")
        self.requests = int(requests.group(1))
        self.p99_us = float(p99.group(1)) * {"us": 1, "ms": 1e3, "s": 1e6}[p99.group(2)]
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
        self.failed = (int(bad.group(1)) if bad else 0) + (sum(map(int, errors.groups())) if errors else 0)
        return self


def wrk(*args, **settings):
    return WrkRun(*args, **settings).result()
