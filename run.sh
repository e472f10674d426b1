#!/usr/bin/env bash
# Installs what is missing, builds, and runs the quickstart, which leaves build/quickstart.html (or,
# with arguments, syncline itself: ./run.sh list models). Works from a fresh clone on Debian or
# Ubuntu, with or without a GPU.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup.sh
build syncline >&2
if [ $# -eq 0 ]; then
  exec build/release/syncline run experiments/quickstart.cfg --html build/quickstart.html
fi
exec build/release/syncline "$@"
