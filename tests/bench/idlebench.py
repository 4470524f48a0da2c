"""Process memory per idle keep-alive connection: the growth of anonymous memory while connections are opened, served
once and held. What a server has set aside at its start, as nginx its table of connections, does not count."""
import contextlib
import time

from rig import Rig, allow_descriptors, connect, get_on
from table import Goal, Table

WARMING = 100  # connections that come and go before memory is first read


def grown_by(server, count):
    """Bytes per connection; how many of them were not answered 200."""
    failed = hold(server, WARMING)[0]
    before = server.memory_bytes("Pss_Anon")
    unanswered, grown = hold(server, count, lambda: server.memory_bytes("Pss_Anon") - before)
    return grown / count, failed + unanswered


def hold(server, count, figure=lambda: 0):
    with contextlib.ExitStack() as held:
        failed = 0
        for _ in range(count):
            connection = held.enter_context(contextlib.closing(connect(server.port)))
            failed += get_on(connection).status != 200
        time.sleep(0.3)  # buffers that are given back when idle
        return failed, figure()


def run(options):
    count = 200 if options.quick else options.held
    allow_descriptors(count + 1000)
    table = Table("idle", f"Memory per idle keep-alive connection, {count:,} held",
                  ["target", "bytes", "failed", "KiB after"])
    with Rig(options.build) as rig:
        for name in ("nginx", "haproxy", "weir"):
            server = rig.proxy(name)
            each, failed = grown_by(server, count)
            table.add(target=name, bytes=round(each), failed=failed, kib_after=server.memory_bytes("Pss_Anon") // 1024)
            rig.stop(server)
    table.failed = failed  # weir's
    table.goals = [Goal("bytes per idle connection", each, 568)]
    return [table]
