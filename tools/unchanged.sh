#!/usr/bin/env bash
# Runs a command, unless every file that it reads or writes is as its last run left it. Then it prints again
# what that run printed.
#
#   tools/unchanged.sh NAME PATH... -- COMMAND...
#
# NAME     where the digests are kept: build/unchanged/NAME
# PATH     files and folders that the command reads or writes beside the checkout itself; one may be missing
#
# A run is kept if it succeeds, and if it changes no file. So the second run after a change is kept, and
# nothing that changes during a run is. Bytes decide, never times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kept=build/unchanged/$1
shift
paths=(.)
while [[ $1 != -- ]]; do
    paths+=("$1")
    shift
done
shift
command=$*

# The checkout but for what is built in it, the packages that are installed, and the paths that were given.
digests() {
    printf '%s\n' "$command"
    {
        find "${paths[@]}" \( -path ./build -o -name .git -o -name '.venv*' -o -name __pycache__ -o -name '.*_cache' \) \
            -prune -o -type f -print0 2>/dev/null || true
        find .venv/lib/*/site-packages -path '*.dist-info/RECORD' -print0
    } | LC_ALL=C sort -uz | xargs -0 sha256sum
}

mkdir -p build/unchanged
before=$(digests)
if [[ -f $kept ]] && [[ $(<"$kept") == "$before" ]]; then
    cat "$kept.out"
    exit
fi
rm -f "$kept"
"$@" | tee "$kept.out"
if [[ $(digests) == "$before" ]]; then printf '%s\n' "$before" >"$kept"; fi
