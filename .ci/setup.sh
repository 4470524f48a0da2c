# Sourced by run.sh, test.sh and tests/bench/run.sh: Debian packages and the build. Expects to be in the project's root.

say() { printf '==> %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Packages by purpose. One list for all commands, so that a package is named in one place.
packages_for() {
    local boost=libboost-dev
    # Debian 12's default Boost is 1.74; Weir needs 1.81.
    grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release && boost=libboost1.81-dev
    case $1 in
        build) echo "g++ cmake ninja-build ccache $boost libpoco-dev libssl-dev libyaml-cpp-dev libre2-dev zlib1g-dev catch2" ;;
        run) echo "curl" ;;
        test) echo "nginx-light haproxy wrk clang libc++-dev libc++abi-dev openssl prometheus valgrind" ;;
        fuzz) echo "clang libclang-rt-dev llvm" ;;
        bench) echo "nginx-light haproxy wrk nghttp2-client python3" ;;
    esac
}

is_installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

as_root=()

# Installs what is missing of the packages for the given purposes. Never removes a package to do so.
install_packages() {
    local purpose package simulated removed wanted=() missing=()
    for purpose; do
        for package in $(packages_for "$purpose"); do wanted+=("$package"); done
    done
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "no apt-get here; needed, under whatever name, are: ${wanted[*]}"
        return
    fi
    for package in "${wanted[@]}"; do is_installed "$package" || missing+=("$package"); done
    [ ${#missing[@]} -gt 0 ] || return 0

    say "missing Debian packages: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "install them as root (there is no sudo here): apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get -q update || die "apt-get update failed"
    simulated=$(LC_ALL=C apt-get install --simulate --no-install-recommends "${missing[@]}" 2>&1) \
        || die "apt-get cannot install them:"$'\n'"$simulated"
    removed=$(printf '%s\n' "$simulated" | sed -n 's/^Remv \([^ ]*\).*/\1/p' | tr '\n' ' ')
    if [ -n "$removed" ]; then
        die "installing them would remove: $removed
This script removes nothing. On Debian 12, libboost1.81-dev cannot be installed beside libboost1.74-dev;
if you can do without the packages named above, run
    apt-get install ${missing[*]}
yourself and start again."
    fi
    apt_install "${missing[@]}" || die "apt-get install failed"
}

# The servers that the tests and the bench use come with a system service; a policy-rc.d that answers 101 is Debian's
# way to install them without starting it.
apt_install() {
    local policy=/usr/sbin/policy-rc.d status=0 ours=false
    if [ ! -e $policy ]; then
        ours=true
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
        "${as_root[@]}" chmod +x $policy
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@" || status=$?
    if $ours; then "${as_root[@]}" rm -f $policy; fi
    return $status
}

# build PRESET [TARGET...]: configures once (ninja configures again by itself when a CMakeLists.txt changes) and builds;
# says nothing when there is nothing to do.
build() {
    local preset=$1 directory=build/$1 started=$SECONDS
    shift
    if [ ! -f "$directory/build.ninja" ]; then
        say "configuring $directory"
        cmake --preset "$preset" || die "configuring failed"
    fi
    ninja -C "$directory" -n "$@" 2>/dev/null | grep -q 'no work to do' && return
    say "building $directory with $(nproc) jobs"
    cmake --build "$directory" -j "$(nproc)" ${1:+--target "$@"} || die "building failed"
    say "built in $((SECONDS - started)) s"
}
