#!/usr/bin/env bash
# out_of_tree_test.sh BUILD_DIRECTORY: what an outsider does. Installs the build, compiles copies of the samples against
# the installed SDK alone, with g++ and with clang, puts them beside the core modules and asks the installed gateway.
set -u
build=$(cd "$1" && pwd) || exit 2
samples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../samples" && pwd) || exit 2
scratch=$(mktemp -d) || exit 2
prefix=$scratch/prefix
modules=$prefix/lib/weir/plugins
pids=()
failures=0

clean_up() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# check WHAT COMMAND...: goes on after a failure.
check() {
    local what=$1
    shift
    if "$@"; then printf 'ok: %s\n' "$what"; else printf 'FAILED: %s\n' "$what" >&2; failures=$((failures + 1)); fi
}
equals() { [ "$1" = "$2" ] || { printf 'expected "%s", found "%s"\n' "$2" "$1" >&2; return 1; }; }
has() { [[ $1 == *"$2"* ]] || { printf 'expected "%s" in:\n%s\n' "$2" "$1" >&2; return 1; }; }
lacks() { [[ $1 != *"$2"* ]] || { printf 'expected no "%s" in:\n%s\n' "$2" "$1" >&2; return 1; }; }
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; return 1; }; }

# compile SAMPLE COMPILER: a copy of the sample, in a directory of its own. Warnings are failures.
compile() {
    local copy=$scratch/$2/$1
    mkdir -p "$scratch/$2" && cp -r "$samples/$1" "$copy"
    CXX=$2 CXXFLAGS='-Wall -Wextra -Wpedantic -Wshadow -Werror' \
        quietly cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" &&
        quietly cmake --build "$copy/build"
}

inspect() {
    local file=$1 defined needed
    defined=$(nm --dynamic --defined-only --format=just-symbols "$file")
    needed=$(readelf --wide --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    check "it exports one symbol" equals "$defined" weir_module_v1
    check "it has no GNU-unique symbol" lacks "$(readelf --wide --symbols "$file")" UNIQUE
    check "it has a manifest" has "$(readelf --wide --notes "$file")" WEIR
    check "it needs no Poco" lacks "$needed" Poco
    check "it needs no Boost" lacks "$needed" boost
}

# start TEXT COMMAND...: runs it and waits for a line with TEXT; `rest` is what follows there, up to a comma.
start() {
    local text=$1 fd line
    shift
    exec {fd}< <(exec "$@" 2>&1)
    pids+=($!)
    local seen=
    while IFS= read -r -t 30 -u "$fd" line; do
        seen+=$line$'\n'
        [[ $line == *"$text"* ]] || continue
        rest=${line##*"$text"}
        rest=${rest%%,*}
        return
    done
    die "$1 does not say \"$text\":"$'\n'"$seen"
}

# answer PORT TARGET: the whole response, without CRs.
answer() {
    exec 3<>"/dev/tcp/127.0.0.1/$1" || return
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
    timeout 20 cat <&3 | tr -d '\r'
    exec 3>&-
}

# The newest name is no better than the oldest: any will do.
clang=$(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort | head -n 1)
[ -n "$clang" ] || die "there is no clang++ (Debian package: clang)"

quietly cmake --install "$build" --prefix "$prefix" || die "cmake --install"
check "the gateway is installed" test -x "$prefix/bin/weir"
check "modules are installed" test -f "$modules/divide.so"
check "the SPI index is installed" grep -qx 'divide = divide' "$modules/spi/Plugin"

for compiler in g++ "$clang"; do
    for sample in hello-plugin greet-plugin ip-range-operator tenant-parameter majority-strategy; do
        printf '%s with %s\n' "$sample" "$compiler"
        compile "$sample" "$compiler" || die "$sample does not build with $compiler"
        inspect "$scratch/$compiler/$sample/build/$sample.so"
    done
done

# One of each compiler goes into the gateway.
cp "$scratch/$clang/hello-plugin/build/hello-plugin.so" "$scratch/g++/greet-plugin/build/greet-plugin.so" \
    "$scratch/$clang/ip-range-operator/build/ip-range-operator.so" \
    "$scratch/g++/tenant-parameter/build/tenant-parameter.so" \
    "$scratch/$clang/majority-strategy/build/majority-strategy.so" "$modules/"
printf 'hello = hello-plugin\ngreet = greet-plugin\n' >>"$modules/spi/Plugin"
printf 'ipRange = ip-range-operator\n' >"$modules/spi/PredicateJudge"
printf 'tenant = tenant-parameter\n' >"$modules/spi/ParameterData"
printf 'majority = majority-strategy\n' >"$modules/spi/MatchStrategy"
start 'order-service listening on 127.0.0.1:' "$build/bin/order-service" --port 0
sed "s/127\.0\.0\.1:8189/127.0.0.1:$rest/" "$samples/quickstart.yaml" >"$scratch/weir.yaml"
cat >>"$scratch/weir.yaml" <<'YAML'
  - name: greet
    selectors:
      - name: orders
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: most of them hold
            matchMode: majority
            conditions:
              - {paramType: ip, operator: ipRange, paramValue: 127.0.0.0/8}
              - {paramType: uri, operator: pathPattern, paramValue: /http/**}
              - {paramType: tenant, paramName: shop.example, operator: "=", paramValue: acme}
            handle: {text: good day}
YAML

list=$("$prefix/bin/weir" plugin list -c "$scratch/weir.yaml")
check "weir plugin list shows hello" grep -qE '^Plugin +hello +-100 +hello-plugin +1\.0\.0 +selected' <<<"$list"
for line in 'PredicateJudge +ipRange +- +ip-range-operator' 'ParameterData +tenant +- +tenant-parameter' \
            'MatchStrategy +majority +- +majority-strategy'; do
    check "weir plugin list shows ${line%% *}" grep -qE "^$line +1\.0\.0 +selected" <<<"$list"
done
check "weir check takes the configuration" quietly "$prefix/bin/weir" check -c "$scratch/weir.yaml"
start 'listening on 127.0.0.1:' "$prefix/bin/weir" run -c "$scratch/weir.yaml" --server.port=0 --management.port=0
port=$rest
proxied=$(answer "$port" '/http/order/findById?id=7')
check "a proxied answer arrives" has "$proxied" '{"id":"7","name":"hello world findById"}'
check "a proxied answer has hello's header" has "$proxied" $'\nx-hello: weir\n'
check "a proxied answer has greet's header" has "$proxied" $'\nx-greeted: yes\n'
missing=$(answer "$port" /nowhere)
check "an error reply is an error reply" has "$missing" 'HTTP/1.1 404 '
check "an error reply has hello's header" has "$missing" $'\nx-hello: weir\n'
check "an error reply has no header of greet, which did not match" lacks "$missing" x-greeted
[ "$failures" -eq 0 ]
