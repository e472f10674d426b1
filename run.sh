#!/usr/bin/env bash
# Installs missing packages, builds, and runs the quickstart, which writes build/quickstart.html.
# With arguments, runs syncline instead: ./run.sh list models. Works from a fresh clone on Debian or
# Ubuntu, with or without a GPU.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup.sh
build syncline >&2
if [ $# -eq 0 ]; then
  exec build/release/syncline run experiments/quickstart.cfg --html build/quickstart.html
fi
exec build/release/syncline "$@"
