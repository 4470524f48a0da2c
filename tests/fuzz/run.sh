#!/usr/bin/env bash
# Runs the fuzzers, one after the other, on their kept inputs and on what earlier runs have found (build/fuzz/found).
# An input that fails is left in build/fuzz/failed; the exit code is then 1.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. .ci/setup.sh

usage="usage: tests/fuzz/run.sh [--merge] [seconds per target, default 60] [target]"
merge=false seconds=60 only=
for argument; do
    case $argument in
        --merge) merge=true ;;
        --help | -h) echo "$usage"; exit 0 ;;
        -*) echo "$usage" >&2; exit 2 ;;
        *[!0-9]*) only=$argument ;;
        *) seconds=$argument ;;
    esac
done
targets=()
for source in tests/fuzz/*_fuzz.cpp; do
    name=$(basename "$source" _fuzz.cpp)
    if [ -z "$only" ] || [ "$only" = "$name" ]; then targets+=("$name"); fi
done
[ ${#targets[@]} -gt 0 ] || die "there is no target $only"

install_packages build fuzz
build fuzz "${targets[@]/%/_fuzz}"

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

dictionary_for() {
    case $1 in
        request_parser | response_parser | client_connection) echo tests/fuzz/http.dict ;;
        path_normalizer) echo tests/fuzz/path.dict ;;
        mock_template) echo tests/fuzz/mock.dict ;;
        yaml_config) echo tests/fuzz/yaml.dict ;;
        json | json_edit | elf_module) echo tests/fuzz/json.dict ;;
    esac
}

# The smallest set of inputs that reaches every place that is reached (how often does not count: that would be four
# times as many). Inputs with a name of their own stay, whatever they reach.
merge_corpus() {
    local name=$1 kept=tests/fuzz/corpus/$1 merged=build/fuzz/merged/$1
    rm -rf "$merged"
    mkdir -p "$merged"
    find "$kept" -type f | grep -vE '/[0-9a-f]{40}$' | xargs -r cp -t "$merged" --
    "build/fuzz/bin/${name}_fuzz" -merge=1 -use_counters=0 -max_len=4096 "$merged" "$kept" "build/fuzz/found/$name" ||
        return 1
    rm -rf "$kept"
    mv "$merged" "$kept"
    say "$kept: $(find "$kept" -type f | wc -l) inputs, $(du -sb "$kept" | cut -f1) bytes"
}

status=0
mkdir -p build/fuzz/failed
for name in "${targets[@]}"; do
    say "$name for $seconds s"
    dictionary=$(dictionary_for "$name")
    mkdir -p "build/fuzz/found/$name" "tests/fuzz/corpus/$name"
    "build/fuzz/bin/${name}_fuzz" "-max_total_time=$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 \
        "-artifact_prefix=build/fuzz/failed/$name-" ${dictionary:+"-dict=$dictionary"} \
        "build/fuzz/found/$name" "tests/fuzz/corpus/$name" || { status=1; continue; }
    if $merge; then merge_corpus "$name" || status=1; fi
done
exit $status
