"""CPU per request proxied through Weir's default chain, beside nginx, HAProxy and a forwarder that parses nothing (raw,
the floor). Weir rewrites the path and sets a response header by rules; the others only forward and add
X-Forwarded-For."""
from collections import namedtuple

from cost import measure
from rig import Rig
from table import Goal, Table

# rules: beside Weir another one that has so many, instead of peers. limits: base and how often its cost Weir's may be.
Setting = namedtuple("Setting", "connections body rules peers limits")
SETTINGS = (
    Setting(64, 64, 0, True, {"raw": 1.15, "nginx": 0.95}),
    Setting(1, 64, 0, True, {"nginx": 1.0}),
    Setting(64, 16384, 0, True, {"nginx": 1.0}),
    Setting(64, 64, 100000, False, {"weir": 1.05}),
)
COLUMNS = ["target", "us/request", "x nginx", "x raw", "x weir", "requests", "failed", "p99 ms", "PSS KiB"]


def settings(options):
    """All of them, or the one that the options describe, which has no goal."""
    if options.one_setting:
        return [Setting(options.connections or 64, options.body or 64, options.rules or 0, True, {})]
    return [setting._replace(rules=min(setting.rules, 1000)) for setting in SETTINGS] if options.quick else SETTINGS


def title(setting):
    text = f"{setting.connections} connection{'s' * (setting.connections > 1)}, {setting.body:,}-byte answers"
    return text + (f", {setting.rules:,} rules" if setting.rules else "")


def run(options):
    for setting in settings(options):
        yield measure_one(setting, options)


def measure_one(setting, options):
    with Rig(options.build, setting.body) as rig:
        servers = [rig.proxy(peer) for peer in options.peers if setting.peers] + [rig.proxy("weir")]
        if setting.rules:
            servers.append(rig.proxy("weir", label="weir-rules", rules=setting.rules))
        loads = [(server, setting.connections) for server in servers]
        costs = measure(loads, options.rounds, options.seconds, options.path)
        table = Table("proxy", title(setting), COLUMNS)
        for name, cost in costs.items():
            bases = ["nginx", "raw", *(["weir"] if setting.rules else [])]
            ratios = {f"x_{base}": cost.versus(costs[base]) for base in bases if base in costs}
            table.add(target=name, us_request=cost.us(), requests=cost.requests, failed=cost.failed,
                      p99_ms=cost.p99_ms(), pss_kib=cost.server.memory_bytes() // 1024, **ratios)
            if name.startswith("weir"):
                table.failed += cost.failed
    weir = costs["weir-rules" if setting.rules else "weir"]
    table.goals = [Goal(f"CPU per request, x {base}", weir.versus(costs[base]), limit)
                   for base, limit in setting.limits.items() if base in costs]
    return table
