#!/usr/bin/env bash
# Installs what is missing, builds, and runs the quick tests; with --all every test, as CI does: also those of tests/long.txt.
# Fails when no test ran. Tests that need a GPU report themselves as skipped where there is none.
set -euo pipefail
cd "$(dirname "$0")"
case "$*" in
  "" | --all) ;;
  *)
    echo "test.sh: allowed is --all, or nothing" >&2
    exit 2
    ;;
esac
source ./setup.sh
build all
mapfile -t long < <(grep -v '^#' tests/long.txt)
if [ "$*" = --all ]; then
  names=$(ctest --preset release -N | sed -n 's/^ *Test *#[0-9]*: //p')
  for pattern in "${long[@]}"; do
    grep -qE "$pattern" <<<"$names" || {
      echo "tests/long.txt: no test is called $pattern" >&2
      exit 1
    }
  done
  exec ctest --preset release
fi
exec ctest --preset release -E "$(IFS='|' && echo "${long[*]}")"
