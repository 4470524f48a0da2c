#!/usr/bin/env bash
# Builds one preset and runs all tests with it; ctest's summary is the last thing printed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. .ci/setup.sh

preset=${1:-release}
case $preset in
    release | asan | tsan) ;;
    --help | -h) echo "usage: ./test.sh [release|asan|tsan]   (default release)"; exit 0 ;;
    *) echo "usage: ./test.sh [release|asan|tsan]" >&2; exit 2 ;;
esac

install_packages build test bench
build "$preset"

# Reports end the process at once, so that no test can pass over one.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/tests/support/tsan.supp
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)"
