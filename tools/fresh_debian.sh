#!/usr/bin/env bash
# Run `make prove` and `make test` on a clean clone of HEAD in a fresh Debian, made by debootstrap in a temporary folder.
#
#   tools/fresh_debian.sh [SUITE] [COMMAND...]     default: trixie "make prove" "make test"
#
# Needs root, debootstrap and the network. Apt's mirror, proxies, certificates and pip's settings of this machine are
# used inside; BIND names further folders to bind, such as a local folder of wheels. MIRROR overrides the mirror.
# Exit status: 0 every command succeeded, 1 one failed, 2 it cannot be run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    printf 'fresh_debian: error: %s\n' "$@" >&2
    exit 2
}

suite=${1:-trixie}
shift || true
[[ $# -gt 0 ]] || set -- "make prove" "make test"
[[ $(id -u) == 0 ]] || fail "root is needed: debootstrap and chroot" "run: sudo $0"
command -v debootstrap >/dev/null || fail "debootstrap is not installed" "run: apt-get install debootstrap"

# Enter a mount namespace first: every mount below ends with this process, however it ends.
if [[ -z ${FRESH_DEBIAN_INSIDE:-} ]]; then
    FRESH_DEBIAN_INSIDE=$(mktemp -d --tmpdir="${TMPDIR:-/var/tmp}" fresh-debian-XXXXXX)
    export FRESH_DEBIAN_INSIDE
    status=0
    unshare --mount --pid --fork --kill-child --propagation private "$0" "$suite" "$@" || status=$?
    rm -rf --one-file-system -- "$FRESH_DEBIAN_INSIDE"
    exit "$status"
fi
root=$FRESH_DEBIAN_INSIDE
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null |
    grep -m 1 '/debian/\?$' || true)}

debootstrap --variant=minbase --include=ca-certificates,git,make,python3,python3-venv \
    "$suite" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 1 "$root.log")" "the whole log: $root.log"
rm -f "$root.log"

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
# What packages need of this machine, at the same paths.
for path in /etc/resolv.conf /etc/pip.conf /etc/xdg/pip "$HOME/.config/pip" "$HOME/.pip" \
    "${SSL_CERT_FILE:-}" ${PIP_FIND_LINKS:-} ${BIND:-}; do
    if [[ -d $path ]]; then
        mkdir -p "$root$path"
        mount --bind "$path" "$root$path"
        mount -o remount,bind,ro "$root$path"
    elif [[ -f $path ]]; then
        mkdir -p "$(dirname "$root$path")"
        cp --remove-destination -L "$path" "$root$path"
    fi
done
apt-config dump Acquire | grep -E '::(Proxy|CaInfo)\b' >"$root/etc/apt/apt.conf.d/99host" || true
git -c safe.directory='*' clone -q --no-hardlinks . "$root/sonnx-clip"

status=0
for command in "$@"; do
    printf '== %s in a fresh %s\n' "$command" "$suite"
    chroot "$root" /usr/bin/env LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c "cd /sonnx-clip && $command" </dev/null || status=1
done
exit "$status"
