#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Proves that this tree works as contrib/gradsync of an ns-3 source tree: configures it with all modules
# of ns-3 and builds it with ns-3's own commands, runs its TestSuites under test.py and its examples, and
# compares the program's results with those of the stand-alone build.
#
#   tests/in-tree.sh [--newest] [--whole] [NS3_TREE]
#
# NS3_TREE is an unpacked ns-3 source tree, which gets contrib/gradsync. Without it, Debian's ns-3 source
# package is fetched into build/in-tree/ and kept there for the next time: with --newest that of Debian's
# newest suite, if the mirror has it. --whole compiles all of ns-3, which takes half an hour of one core
# more. The stand-alone program must have been built (./ns3 build).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
work=$root/build/in-tree
stand_alone=$root/build/release/gradsync
# A newer source package than the system's own: its suite of Debian, and its version.
newest_suite=sid
newest_version=3.48-1
# Scenarios to compare: a file and, after a space, overrides that keep it short.
comparisons=(
    "smoke.json"
    "quickstart.json"
    "rat-oversubscription.json --set=job.gradient=1MiB --set=topology.hostsPerLeaf=4"
)

fail() {
    echo "in-tree: $*" >&2
    exit 1
}

# fetch_source ADDRESS SUITE [VERSION]: by a deb-src entry in a private apt configuration, so that the
# system's stays as it is.
fetch_source() {
    local folder=$work/$2
    local options=(-qq
        -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 $2 main" \
        >"$folder/sources.list"
    cd "$folder"
    apt-get "${options[@]}" update &&
        apt-get "${options[@]}" source --download-only "ns3${3:+=$3}" &&
        tar -xf ns3_*.orig.tar.* -C "$work/unpacked"
}

fetch_ns3() {
    local address suite
    read -r address suite <<<"$(apt-cache policy ns3 |
        sed -n 's/^ *[0-9]\+ \(http[^ ]*\) \([^ /]*\)\/.*/\1 \2/p' | head -n 1)"
    [[ -n $suite ]] || fail "apt knows no repository with ns3 (apt-get update?)"
    command -v bzip2 >/dev/null || fail "bzip2 is missing; remedy: apt-get install bzip2"
    if $newest; then
        (fetch_source "$address" "$newest_suite" "$newest_version") >"$work/fetch.log" 2>&1 && return
        fail "the mirror does not give ns3 $newest_version: $(grep -m 1 -E '^E:' "$work/fetch.log")"
    fi
    (fetch_source "$address" "$suite") >>"$work/fetch.log" 2>&1 ||
        fail "no source package of ns-3: $(tail -n 3 "$work/fetch.log")"
}

# The archive holds ns-3 beside other projects: ns-allinone-3.37/ns-3.37.
find_ns3() {
    find "$work/unpacked" -maxdepth 3 -name VERSION -path '*/ns-3*/VERSION' -printf '%h\n' \
        2>/dev/null | sort | tail -n 1
}

# What git tracks, and what it would track, so that a build folder never gets in.
copy_module() {
    local module=$1/contrib/gradsync
    rm -rf "$module"
    mkdir -p "$module"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done |
        tar --null -T - -cf -) | tar -xf - -C "$module"
}

# Headers of all modules share one folder: one with a name of ns-3's takes the place of that.
check_header_names() {
    local clashes
    clashes=$(comm -12 \
        <(find "$1/src" -path '*/doc' -prune -o -name '*.h' -printf '%f\n' | sort -u) \
        <(cd "$root" && git ls-files -- 'model/*.h' 'helper/*.h' 'study/*.h' | sed 's|.*/||' | sort -u))
    [[ -z $clashes ]] || fail "headers have names of ns-3's: $clashes"
}

# configure MODULES...: what is wanted of ns-3; of examples and tests only our own. Compiling takes most of
# the time, so nothing is optimised, and Clang does it, where there is one and CXX names no other compiler:
# with precompiled headers it is faster than GCC. ccache cannot keep what was compiled with a precompiled header.
configure() {
    local options=(-d release --enable-tests --enable-examples
        --filter-module-examples-and-tests=gradsync --disable-python --disable-gtk -G Ninja "$@")
    if command -v ccache >/dev/null; then
        options+=(--disable-precompiled-headers)
    fi
    if [[ -z ${CXX:-} ]] && command -v clang++-14 >/dev/null; then
        export CC=clang-14 CXX=clang++-14
    fi
    ./ns3 configure "${options[@]}" -- -DGRADSYNC_UNITY=ON "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" \
        >"$work/configure.log" 2>&1 || fail "configure failed: $(tail -n 30 "$work/configure.log")"
}

# All modules, so that the headers of all are in the folder from which everything is compiled. Then only
# those that are compiled too: topology-read has headers with names close to ours.
build() {
    cd "$1"
    configure
    [[ -e build/include/ns3/wifi-net-device.h ]] || fail "ns-3's wifi module is not configured"
    $whole || configure --enable-modules="gradsync;topology-read"
    [[ -e build/include/ns3/wifi-net-device.h ]] || fail "the headers of all modules are gone"
    # What ./ns3 build does, but for the core that it leaves idle.
    cmake --build cmake-cache -j "$(nproc)" >"$work/build.log" 2>&1 ||
        fail "build failed: $(grep -A 40 FAILED "$work/build.log" | head -n 60)"
}

# Every suite of the module under ns-3's own test.py.
run_suites() {
    cd "$1"
    local suite
    for file in "$root"/tests/suites/*-suite.cc; do
        suite=$(basename "$file" -suite.cc)
        ./test.py --no-build --suite="$suite" ||
            fail "TestSuite $suite failed"
    done
}

# test.py finds and runs all examples, and they print what they print stand-alone.
run_examples() {
    local tree=$1 count expected name printed
    count=$(find "$root/examples/expected" -name '*.txt' | wc -l)
    printed=$(cd "$tree" && ./test.py --no-build --constrain=example) &&
        [[ $printed == *"$count of $count tests passed"* ]] ||
        fail "test.py --constrain=example does not pass $count examples: $printed"
    for expected in "$root"/examples/expected/*.txt; do
        name=$(basename "$expected" .txt)
        printed=$(cd "$tree" && ./ns3 run --no-build "$name") || fail "example $name failed: $printed"
        diff <(printf '%s\n' "$printed") "$expected" || fail "example $name prints something else"
    done
}

compare() {
    local tree=$1 entry name overrides here there
    for entry in "${comparisons[@]}"; do
        read -r name overrides <<<"$entry"
        here=$work/results/stand-alone/${name%.json}
        there=$work/results/in-tree/${name%.json}
        rm -rf "$here" "$there"
        # shellcheck disable=SC2086 # the overrides are words
        "$stand_alone" run "$root/scenarios/$name" --out="$here" --progress=never $overrides \
            >/dev/null
        (cd "$tree" && ./ns3 run --no-build \
            "gradsync-program run $root/scenarios/$name --out=$there --progress=never $overrides" \
            >/dev/null)
        PYTHONPATH=$root/analysis/src python3 -P -m gradsync compare "$here" "$there" ||
            fail "$name: the two builds differ"
    done
}

newest=false
whole=false
while [[ ${1:-} == --* ]]; do
    case $1 in
    --newest) newest=true ;;
    --whole) whole=true ;;
    *) fail "unknown option $1 (allowed: --newest, --whole)" ;;
    esac
    shift
done
[[ -x $stand_alone ]] || fail "$stand_alone does not exist; remedy: ./ns3 build"
mkdir -p "$work/unpacked"
tree=${1:-$(find_ns3)}
if [[ -z $tree ]]; then
    fetch_ns3
    tree=$(find_ns3)
fi
echo "in-tree: ns-3 $(cat "$tree/VERSION") with contrib/gradsync"
check_header_names "$tree"
SECONDS=0
copy_module "$tree"
build "$tree"
echo "in-tree: configured and built in $SECONDS s"
run_suites "$tree"
run_examples "$tree"
compare "$tree"
echo "in-tree: ok"
