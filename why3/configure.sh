#!/bin/sh
# Writes Why3's configuration and the provers' drivers for this machine into a folder.
# Usage: why3/configure.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: why3/configure.sh FOLDER" >&2; exit 2; }
for tool in why3 z3 cvc5; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed: apt-get install why3 z3 cvc5" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/drivers"
out=$(cd "$1" && pwd)
data=$(why3 --print-datadir)
z3=$(z3 --version | sed 's/^Z3 version \([^ ]*\).*/\1/')
cvc5=$(cvc5 --version | sed -n 's/^This is cvc5 version \([^ ]*\).*/\1/p')
for driver in z3 cvc5; do
  sed "s|@WHY3_DATA@|$data|" "$here/drivers/$driver.drv.in" >"$out/drivers/$driver.drv"
done
cp "$here/drivers/elements.gen" "$out/drivers/elements.gen"
sed "s|@DRIVERS@|$out/drivers|; s|@Z3_VERSION@|$z3|; s|@CVC5_VERSION@|$cvc5|" \
  "$here/why3.conf.in" >"$out/why3.conf.new"
mv "$out/why3.conf.new" "$out/why3.conf"
