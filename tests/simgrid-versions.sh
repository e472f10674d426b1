#!/usr/bin/env bash
# Builds and tests with each SimGrid installation in its own build folder, and prints a line for each:
# how many golden traces are the same to six digits (curves to the byte), and how many tests pass.
#   tests/simgrid-versions.sh /usr ~/simgrid-3.35 ~/simgrid-4.1
# Failures are in build/simgrid-VERSION.log. Exit code 0 if everything passed everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  echo "usage: tests/simgrid-versions.sh PREFIX...: installation folders of SimGrid" >&2
  exit 2
fi
for prefix in "$@"; do
  if [ -z "$(find "$prefix"/lib* "$prefix"/share -name simgrid.pc 2>/dev/null)" ]; then
    echo "$prefix: no simgrid.pc in its lib or share: not an installation folder of SimGrid" >&2
    exit 2
  fi
done

# Runs the tests with these labels; prints "PASSED of ALL".
passed_of() {
  local folder=$1 labels=$2 log=$3 counts
  ctest --test-dir "$folder" -L "$labels" -j"$(nproc)" --no-tests=error --output-on-failure >"$log.part" 2>&1 || true
  cat "$log.part" >>"$log"
  counts=$(sed -n 's/.*, \([0-9]*\) tests\? failed out of \([0-9]*\).*/\1 \2/p' "$log.part")
  rm "$log.part"
  [ -n "$counts" ] || counts="1 1"
  echo "$((${counts#* } - ${counts% *})) of ${counts#* }"
}

all_pass=true
for prefix in "$@"; do
  pc=$(find "$prefix"/lib* "$prefix"/share -name simgrid.pc 2>/dev/null | head -n 1 || true)
  PKG_CONFIG_PATH=$(dirname "$pc")
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir "$pc")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  version=$(pkg-config --modversion simgrid)
  folder=build/simgrid-$version
  log=$folder.log
  mkdir -p build
  if ! { cmake --fresh -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND &&
    cmake --build "$folder" --target syncline unit_test program_test processes_test laws_test golden_test repo_test; } >"$log" 2>&1; then
    echo "SimGrid $version ($prefix): does not build, see $log"
    all_pass=false
    continue
  fi
  # Asks the program which SimGrid it was linked with, which may not be the requested one.
  out=$(mktemp -d)
  "$folder/syncline" run tests/golden/scenarios/bsp-ring.cfg --out "$out" >>"$log" 2>&1 || true
  runs_with=$(sed -n 's/.*"simgrid": "\(.*\)".*/\1/p' "$out/result.json" 2>/dev/null || true)
  rm -r "$out"
  golden=$(passed_of "$folder" golden "$log")
  every=$(passed_of "$folder" 'unit|program|processes|laws|golden|repo' "$log")
  echo "SimGrid ${runs_with:-none} ($prefix): golden traces the same to six digits $golden, tests passed $every"
  for counts in "$golden" "$every"; do
    [ "${counts% of *}" = "${counts#* of }" ] || all_pass=false
  done
  [ -n "$runs_with" ] && [[ "$version" == "$runs_with"* ]] || all_pass=false
done
$all_pass
