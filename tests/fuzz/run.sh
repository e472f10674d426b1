#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [READER...]]: fuzzes every reader, or the named ones, for SECONDS (600) from
# its corpus, one per core. Fails on a finding: a file that breaks a law of law.h. With less than a minute
# each run tries the same files, at most 3,000, so that a failure comes from a change of the code.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=build/asan/fuzz
seconds=${1:-600}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)
[ -x "$programs/$1" ] || { echo "$programs/$1 is not built: cmake --preset asan && cmake --build --preset asan --target fuzz"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
how="-timeout=10"
[ "$seconds" -ge 60 ] || how="-timeout=60 -seed=1 -runs=3000"
findings=build/asan/fuzz/findings
mkdir -p "$findings"
export programs seconds findings work how

fuzz() {  # one reader
  local reader=$1 longest=4096 megabytes=1024 dictionary log=$work/$1.log
  case $reader in
    result) longest=50000 ;;
    simgrid) megabytes=0 ;;  # the memory watchdog is a thread, and a forked child of threads may hang
  esac
  mkdir -p "$work/files/$reader" "$work/new/$reader"
  dictionary=$(ls tests/fuzz/"$reader".dict 2>/dev/null || true)
  if TMPDIR=$work/files/$reader nice "$programs/$reader" -max_total_time="$seconds" $how \
    -rss_limit_mb=$megabytes -max_len=$longest ${dictionary:+-dict="$dictionary"} -print_final_stats=1 \
    -artifact_prefix="$findings/$reader-" "$work/new/$reader" "tests/fuzz/corpus/$reader" >"$log" 2>&1; then
    echo "$reader: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") files," \
      "$(grep -o 'cov: [0-9]*' "$log" | tail -1), no finding"
  else
    grep -a -E 'what\(\)|runtime error|ERROR|SUMMARY|Test unit written' "$log" | cut -c1-600 || tail "$log"
    echo "$reader: a finding; again: $programs/$reader $(ls -t "$findings/$reader"-* | head -1)"
    return 1
  fi
}
export -f fuzz
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' bash -euo pipefail -c 'fuzz {}'
