#!/usr/bin/env bash
# CPU per proxied request of Weir's release build against nginx, HAProxy and the raw floor.
#   tests/bench/run.sh [--rounds N] [--seconds S] [--connections C] [--body BYTES] [--rules N] [--json FILE]
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. .ci/setup.sh

install_packages build bench
build release runtime/all plugins/all
exec python3 tests/bench/proxybench.py --weir build/release/bin/weir "$@"
