#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tries README's first command as a user of another release of Debian would: in a fresh root folder of
# that release, with nothing installed by hand, on a fresh copy of this tree. By hand, as root.
#
#   tests/debian-root.sh [SUITE] [COMMAND...]
#
# SUITE is a release that the mirror serves from which apt takes its packages (trixie is Debian 13). The
# root folder is kept in build/debian-SUITE for the next time. COMMAND replaces README's.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
suite=${1:-trixie}
folder=$root/build/debian-$suite
shift || true
command=("$@")
((${#command[@]})) || command=(./ns3 run scenarios/rat-oversubscription.json)

fail() {
    echo "debian-root: $*" >&2
    exit 1
}

mirror() {
    apt-cache policy base-files |
        sed -n 's/^ *[0-9]\+ \(http[^ ]*\) [^ /]*\/main .*/\1/p' | head -n 1
}

make_root() {
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing; remedy: apt-get install mmdebstrap"
    local address
    address=$(mirror)
    [[ -n $address ]] || fail "apt knows no mirror of Debian (apt-get update?)"
    mmdebstrap --quiet --variant=minbase --mode=root --include=ca-certificates \
        "$suite" "$folder.part" "$address"
    mv "$folder.part" "$folder"
}

# What git tracks, as a clone would have it.
copy_tree() {
    rm -rf "$folder/gradsync"
    mkdir -p "$folder/gradsync"
    (cd "$root" && git ls-files -z | tar --null -T - -cf -) | tar -xf - -C "$folder/gradsync"
}

# In a mount namespace, which takes /proc and /dev away again at its end. Certificates and settings of
# this machine lead to its registries.
enter() {
    local certificates=/etc/ssl/certs/ca-certificates.crt
    cp "$certificates" "$folder$certificates"
    cp /etc/resolv.conf "$folder/etc/resolv.conf"
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount --pid --fork bash -ec '
        mount -t proc proc "$1/proc"
        mount --bind /dev "$1/dev"
        folder=$1
        shift
        exec chroot "$folder" env -C /gradsync HOME=/root "$@"' enter "$folder" "$@"
}

((EUID == 0)) || fail "needs root, for chroot"
[[ -d $folder ]] || make_root
copy_tree
SECONDS=0
enter "${command[@]}"
echo "debian-root: Debian $(cat "$folder/etc/debian_version"), ${command[*]}: done in $SECONDS s"
