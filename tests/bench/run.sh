#!/usr/bin/env bash
# Weir's benches with the release build: tests/bench/run.sh --help says which there are.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. .ci/setup.sh

install_packages build bench
build release weir_benches
exec python3 -B tests/bench/bench.py "$@"
