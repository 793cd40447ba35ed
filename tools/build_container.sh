#!/usr/bin/env bash
# Builds the image of the Containerfile by podman or docker. `make nightly PARTS=container` records the outcome.
#
# Exit status: that of the build; 2 where neither podman nor docker is on PATH, or none of them works.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

reason="neither podman nor docker is on PATH"
for builder in podman docker; do
    command -v "$builder" >/dev/null || continue
    if "$builder" info >/dev/null 2>&1; then # docker alone needs a daemon
        exec "$builder" build --file Containerfile --tag sonnx-clip .
    fi
    reason="$builder is installed, but \`$builder info\` fails"
done
echo "not run: $reason"
exit 2
