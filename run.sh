#!/usr/bin/env bash
# Builds Weir, starts it in front of the example backend and shows real requests going through.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. .ci/setup.sh

help() {
    cat <<'TEXT'
usage: ./run.sh [--once]

Installs missing Debian packages (as root or with sudo; says which), builds Weir, starts the example backend on port
8189 and the gateway with samples/quickstart.yaml on port 9195 (management: 9196), sends requests through and shows
request and answer. Then both stay up until Ctrl-C.

  --once    end after the shown requests; exit code 0 only if each answer was right
  --help    this text

Logs: build/run/order-service.log and build/run/weir.log
TEXT
}

once=false
case ${1:-} in
    '') ;;
    --once) once=true ;;
    --help | -h) help; exit 0 ;;
    *) help >&2; exit 2 ;;
esac
[ $# -le 1 ] || { help >&2; exit 2; }

gateway=http://127.0.0.1:9195
management=http://127.0.0.1:9196
backend=http://127.0.0.1:8189
logs=build/run
pids=()
wrong=0

stop_all() {
    trap - EXIT INT TERM
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
}

# A port that answers before we start anything belongs to somebody else.
require_free() {
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
        die "port $1 on 127.0.0.1 is in use already; $2 needs it.
End what listens there (ss -ltnp shows it) and start again."
    fi
}

start() {
    local name=$1
    shift
    "$@" >"$logs/$name.log" 2>&1 &
    pids+=($!)
}

# wait_for NAME PID URL TEXT: until URL answers with TEXT in it.
wait_for() {
    local deadline=$((SECONDS + 20))
    until curl -s -m 2 "$3" 2>/dev/null | grep -q "$4"; do
        kill -0 "$2" 2>/dev/null || { cat "$logs/$1.log" >&2; die "$1 ended at once; its log is above"; }
        [ $SECONDS -lt $deadline ] || { cat "$logs/$1.log" >&2; die "$1 does not answer at $3; its log is above"; }
        sleep 0.1
    done
}

# show STATUS TEXT CURL-ARGUMENTS...: sends the request, shows both sides, counts it as wrong unless the answer has that
# status and that text.
show() {
    local status=$1 text=$2 answer body code
    shift 2
    printf '\n$ curl'
    printf " '%s'" "$@"
    answer=$(curl -s -m 10 -w '\n%{http_code}' "$@")
    code=${answer##*$'\n'}
    body=${answer%$'\n'*}
    printf '\n%s\n%s\n' "HTTP $code" "$body"
    if [ "$code" = "$status" ] && [[ $body == *"$text"* ]]; then
        return
    fi
    printf 'WRONG: expected HTTP %s with %s\n' "$status" "$text"
    wrong=$((wrong + 1))
}

require_free 8189 "the example backend"
require_free 9195 "the gateway"
require_free 9196 "the gateway's management"
install_packages build run
build release runtime/all plugins/all samples/all
mkdir -p "$logs"
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start order-service build/release/bin/order-service
start weir build/release/bin/weir run -c samples/quickstart.yaml
wait_for order-service "${pids[0]}" "$backend/hello" hello
wait_for weir "${pids[1]}" "$management/actuator/health" UP
say "gateway on $gateway, management on $management, backend on $backend"

show 200 '{"id":"42","name":"hello world findById"}' "$gateway/http/order/findById?id=42"
show 200 '{"id":"1","name":"hello world save order"}' "$gateway/http/order/save" \
    -H 'Content-Type: application/json' -d '{"id":"1","name":"book"}'
show 200 '{"id":"7","name":"hello world restful: book"}' "$gateway/http/order/path/7/book"
show 404 '"code":-107' "$gateway/no/selector/for/this"

printf '\n'
if [ "$wrong" -gt 0 ]; then
    say "$wrong of the answers above were wrong; logs: $logs"
    $once && exit 1
elif $once; then
    say "all answers were right"
    exit 0
fi
say "both stay up; Ctrl-C ends them"
wait -n "${pids[@]}"
die "one of the two ended by itself; logs: $logs"
