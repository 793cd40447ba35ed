#!/usr/bin/env bash
# Runs a command unless every file that it reads or writes is unchanged since its last run. Then it repeats the
# output of that run.
#
#   tools/unchanged.sh NAME PATH... -- COMMAND...
#
# NAME     file of the digests: build/unchanged/NAME
# PATH     files and folders outside the checkout that the command reads or writes; may be missing
#
# A run is cached if it succeeds and changes no file: the second run after a change. Contents count, not
# times.
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

# The checkout without build products, the installed packages, and the paths of the call.
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
