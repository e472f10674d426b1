#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test. Fails if no test ran. Without a GPU, tests
# that need one are skipped.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup.sh
build all
ctest --preset release
