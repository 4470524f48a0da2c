"""Weir's benches, beside nginx, HAProxy and a raw forwarder where these can do the same. tests/bench/run.sh installs
and builds what they need and starts this. All on loopback; what is started is stopped. Without --quick all take a
quarter of an hour, and want the machine for themselves.

Exit code 0 when every goal is met and no request through Weir failed, 1 when not or when a bench could not be
made, 2 when the command line is wrong.
"""
import argparse
import contextlib
import json
import shutil
import signal
import sys
import textwrap
from pathlib import Path

import hopbench
import idlebench
import latencybench
import loopsbench
import matchbench
import proxybench
import startbench
import swapbench
from rig import MAX_HELD, PATH

VERBS = {"proxy": proxybench, "loops": loopsbench, "hop": hopbench, "match": matchbench, "idle": idlebench,
         "start": startbench, "latency": latencybench, "swap": swapbench}
PROGRAMS = ("weir", "hop_bench", "match_bench", "raw_forwarder")  # of the build
TOOLS = ("nginx", "haproxy", "wrk", "h2load")
PEERS = ("nginx", "haproxy", "raw")


def number(least, most=10**9, kind=int):
    def convert(text):
        with contextlib.suppress(ValueError):
            value = kind(text)
            if least <= value <= most:
                return value
        raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, found '{text}'")
    return convert


def peers(text):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(PEERS)}, found '{name}'")
    return names


def parse(words):
    verbs = "\n".join(textwrap.fill(f"{name:9}{bench.__doc__}", 100, initial_indent="  ", subsequent_indent=" " * 11)
                      for name, bench in VERBS.items())
    parser = argparse.ArgumentParser(prog="tests/bench/run.sh", epilog=f"verbs:\n{verbs}",
                                     usage="%(prog)s [VERB ...] [OPTION ...]",
                                     description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verbs", nargs="*", metavar="VERB", help="what to measure; default: everything")
    parser.add_argument("--quick", action="store_true",
                        help="half a minute for all; figures are not judged, only whether everything works")
    parser.add_argument("--rounds", type=number(1), help="default 9")
    parser.add_argument("--seconds", type=number(0.1, kind=float), help="of load for each target and round, default 3")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write them to this file")
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="the build's directory")
    parser.add_argument("--held", type=number(1, MAX_HELD), default=10000, help="idle: connections, default 10000")
    parser.add_argument("--rate", type=number(64), default=4000, help="latency: requests a second, default 4000")
    parser.add_argument("--path", default=PATH, help=f"proxy: what is asked for, under /http/, default {PATH}")
    parser.add_argument("--peers", type=peers, default=list(PEERS), help="proxy: default nginx,haproxy,raw")
    one = parser.add_argument_group("one setting of proxy instead of its four, and, without a verb, nothing else")
    one.add_argument("--connections", type=number(1, MAX_HELD), help="default 64; also of loops and swap")
    one.add_argument("--body", type=number(1, 2**20), help="bytes of each answer, default 64")
    one.add_argument("--rules", type=number(1), help="also a Weir with that many rules, all but one for other paths")
    options = parser.parse_args(words)
    for verb in options.verbs:
        if verb not in VERBS:
            parser.error(f"unknown verb '{verb}', expected some of {', '.join(VERBS)}")
    if not options.path.startswith("/http/"):
        parser.error(f"--path: expected a path under /http/, found '{options.path}'")
    options.one_setting = any((options.connections, options.body, options.rules))
    options.verbs = options.verbs or (["proxy"] if options.one_setting else list(VERBS))
    options.rounds = options.rounds or (1 if options.quick else 9)
    options.seconds = options.seconds or (0.2 if options.quick else 3)
    return options


def require(build):
    for name in PROGRAMS:
        if not (build / "bin" / name).exists():
            sys.exit(f"{build}/bin/{name} is not there; tests/bench/run.sh builds it")
    for name in TOOLS:
        if not shutil.which(name):
            sys.exit(f"{name} is not installed; tests/bench/run.sh installs it")


def main():
    options = parse(sys.argv[1:])
    require(options.build)
    for which in (signal.SIGTERM, signal.SIGINT):
        signal.signal(which, lambda got, _: sys.exit(f"ended by {signal.Signals(got).name}"))  # stops the servers
    tables = []
    for verb in options.verbs:
        for table in VERBS[verb].run(options):
            print((table.markdown if options.markdown else table.text)(judged=not options.quick), flush=True)
            tables.append(table)
    if options.json:
        Path(options.json).write_text(json.dumps([table.json() for table in tables], indent=1) + "\n")
    failed = any(table.failed for table in tables)
    missed = not options.quick and any(not goal.met() for table in tables for goal in table.goals)
    sys.exit(failed or missed)


main()
