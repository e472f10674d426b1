#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Fails when no test ran. Tests that need a GPU
# report themselves as skipped where there is none.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup.sh
build all
ctest --preset release
