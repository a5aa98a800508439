#!/bin/sh
# What `make bench` runs: every script in benchmarks/. The argument is the Python to run them with.
set -eu
python=$1

found=no
for script in benchmarks/[a-z]*.py; do
  [ -e "$script" ] || continue
  found=yes
  echo "== $script"
  "$python" "$script"
done
[ "$found" = yes ] || echo "There are no benchmarks yet."
