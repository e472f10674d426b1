#!/usr/bin/env bash
# The first minutes on a machine with a GPU, which needs CUDA, CMake and a C++ compiler, and GoogleTest for the
# tests among the steps:
#
#   kernels/first-gpu.sh BUDGET_SECONDS [FOLDER]
#
# Steps, the most valuable first: build; a small case of each compressor under compute-sanitizer; device tests;
# calibration at 2^28 elements, one process and one table each, then from 2^16 to 2^26; baselines; a stress of the
# look-back. Each has a slice of the time that is left, and its log and tables are in FOLDER ($OUT, or
# build/first-gpu) when it ends; summary.txt compares with the floors. Ends with code 1 where a step failed or could
# not be done: the summary says which and why.
#
# FIRST_GPU_BUILD: where to build; a calibrator that is there already is taken as it is. FIRST_GPU_LARGE, FIRST_GPU_SIZES: instead of 2^28, and of 2^16,...
# shellcheck disable=SC2317  # steps are called by their names
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

budget=${1:-}
if ! [[ $budget =~ ^[1-9][0-9]{0,5}$ ]] || [ $# -gt 2 ]; then
  echo "usage: kernels/first-gpu.sh BUDGET_SECONDS [FOLDER]: seconds are a whole number from 1 to 999999" >&2
  exit 2
fi
out=${2:-${OUT:-build/first-gpu}}
build=${FIRST_GPU_BUILD:-build/first-gpu-build}
large=${FIRST_GPU_LARGE:-2^28}
sizes=${FIRST_GPU_SIZES:-2^16,2^18,2^20,2^22,2^24,2^26}
calibrate=$build/syncline-calibrate
PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer
mkdir -p "$out" && : >"$out/steps.txt" || exit 2

compressors=()
for file in kernels/compressors/*.cu; do
  compressors+=("$(basename "$file" .cu)")
done

# A step's function returns 0, 1 where it failed, or 3 where it could not begin; in `said` is one line about it.
said=''
step_end=0
shares_left=100
failed=0

left() { # seconds of this step's slice
  echo $((step_end > SECONDS ? step_end - SECONDS : 0))
}

within() { # seconds, command
  timeout --kill-after=5 "$1" "${@:2}"
}

step() { # name, share of the time, function
  local slice=$(((budget - SECONDS) * $2 / shares_left)) begun=$SECONDS state
  shares_left=$((shares_left - $2))
  step_end=$((SECONDS + slice))
  said=''
  if [ "$slice" -lt 1 ]; then
    state='not reached'
    failed=1
  else
    "$3" >"$out/$1.log" 2>&1
    case $? in
      0) state='done' ;;
      3) state='not possible' failed=1 ;;
      *) state='FAILED' failed=1 ;;
    esac
    [ "$SECONDS" -lt "$step_end" ] || said="$said; its slice of $slice s was used up"
  fi
  printf '%-16s %-12s %4d s  %s\n' "$1" "$state" $((SECONDS - begun)) "${said#; }" | tee -a "$out/steps.txt"
}

last_line() { # of a file
  tail -n 1 "$1" 2>/dev/null
}

build() {
  if [ -n "${FIRST_GPU_BUILD:-}" ] && [ -x "$calibrate" ]; then
    said="given: $build"
    return 0
  fi
  local tool architecture
  for tool in nvcc cmake; do
    command -v "$tool" >/dev/null || { said="$tool is missing"; return 3; }
  done
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
  within "$(left)" cmake -S kernels -B "$build" -DCMAKE_BUILD_TYPE=Release -DSYNCLINE_WERROR=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${architecture:-90}" || { said="cmake: see build.log"; return 1; }
  if grep -q '^CMAKE_CUDA_COMPILER:.*NOTFOUND' "$build/CMakeCache.txt"; then
    said="nvcc does not compile: see build.log"
    return 1
  fi
  within "$(left)" cmake --build "$build" -j "$(nproc)" --target syncline-calibrate ||
    { said="the calibrator: see build.log"; return 1; }
  said="calibrator"
  [ -d "$build/tests" ] || { said="calibrator; no tests, GoogleTest is missing"; return 0; }
  within "$(left)" cmake --build "$build" -j "$(nproc)" --target kernels_test ||
    { said="calibrator; the tests do not build: see build.log"; return 1; }
  said="calibrator, tests"
}

built() {
  [ -x "$calibrate" ] || { said="no $calibrate was built"; return 3; }
}

# Whether the calibrator finds a device: asked once, the answer is kept.
device_answer=''
usable() {
  built || return
  [ -n "$device_answer" ] || device_answer=$("$calibrate" --device cuda --compressors none --sizes 1 --budget 0 \
    --out "$out/device.csv" 2>&1 || true)
  [[ $device_answer != *'allowed'* ]] || { said=$device_answer; return 3; }
}

sanitizer() {
  usable || return
  command -v compute-sanitizer >/dev/null || { said="compute-sanitizer is missing"; return 3; }
  mkdir -p "$out/sanitizer"
  local name tool bad='' clean=0
  for name in "${compressors[@]}"; do
    echo "== memcheck, $name"
    if small_case memcheck "$name"; then clean=$((clean + 1)); else bad="$bad $name"; fi
  done
  said="memcheck: $clean of ${#compressors[@]} clean${bad:+, not$bad}"
  for tool in racecheck synccheck initcheck; do
    [ "$(left)" -gt 10 ] || { said="$said; $tool not reached"; continue; }
    echo "== $tool"
    small_case "$tool" "$(IFS=,; echo "${compressors[*]}")" && said="$said; $tool clean" && continue
    said="$said; $tool not clean"
    bad="$bad $tool"
  done
  [ -z "$bad" ]
}

small_case() { # tool, compressors
  local seconds
  seconds=$(left)
  within "$((seconds > 60 ? 60 : seconds))" compute-sanitizer --tool "$1" --error-exitcode 9 \
    "$calibrate" --device cuda --compressors "$2" --sizes 9001 --densities 0.01 --distributions gauss --baselines off --out "$out/sanitizer/$1-${2%%,*}.csv"
}

tests_named() { # pattern, what they are called
  [ -f "$build/CTestTestfile.cmake" ] ||
    { said="GoogleTest is missing: $2 were not built, and count as failed"; return 1; }
  local results=$out/tests.txt passed skipped bad
  within "$(left)" ctest --test-dir "$build" -R "$1" --no-tests=error --output-on-failure --timeout 120 \
    -j "$(($(nproc) > 8 ? 8 : $(nproc)))" 2>&1 | tee "$results"
  passed=$(grep -c ' Passed ' "$results")
  skipped=$(grep -c '\*\*\*Skipped' "$results")
  bad=$(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+).*\*\*\*(Failed|Timeout|Exception|Not Run).*/\1/p' "$results")
  said="$passed passed, $skipped skipped${bad:+, not passed: $(echo "$bad" | tr '\n' ' ')}"
  rm "$results"
  [ "$passed" -gt 0 ] || { said="no test ran: $said"; return 1; }
  [ -z "$bad" ]
}

device_tests() {
  built || return
  tests_named '^(EveryCuda|DeviceBaselines)' 'EveryCudaCompressor/Device.* and DeviceBaselines.*'
}

stress() {
  built || return
  tests_named '^DeviceStress' 'DeviceStress.*'
}

# Each an own process: what ends one ends no other.
calibrate_large() {
  usable || return
  local name others=6 bad='' count=0 file
  for name in topk threshold efsign qsgd gaussiank powersgd; do
    file=$out/large-$name.csv
    within $((($(left) + others - 1) / others)) "$calibrate" --device cuda --compressors "$name" --sizes "$large" \
      --densities 0.01 --distributions gauss --baselines off --set "$(feedback_of "$name")" --out "$file" 2>&1 |
      tee "$out/large-$name.log"
    if [ "${PIPESTATUS[0]}" -eq 0 ]; then
      count=$((count + 1))
    else
      bad="$bad, $name: $(last_line "$out/large-$name.log")"
    fi
    others=$((others - 1))
  done
  said="$count of 6 at $large$bad"
  [ -z "$bad" ]
}

feedback_of() { # what does without error feedback unless it is asked is measured with it, too
  if [ "$1" = qsgd ]; then echo error-feedback=off,error-feedback=on; else echo error-feedback=on; fi
}

calibrate_sizes() {
  usable || return
  measured sizes.csv --sizes "$sizes" --distributions gauss --baselines off
}

baselines() {
  usable || return
  measured baselines.csv --sizes "${sizes##*,}" --densities 0.01 --distributions gauss || return
  python3 -c 'import torch' 2>/dev/null || { said="$said; no PyTorch here"; return 0; }
  within "$(left)" python3 kernels/calibrate/baseline_torch.py --device cuda --sizes "${sizes##*,}" \
    --append "$out/baselines.csv" && said="$said; torch.topk"
}

measured() { # table, options: ends by itself, some seconds before its slice does
  local file=$out/$1 rows word text
  within "$(left)" "$calibrate" --device cuda "${@:2}" --budget "$(($(left) * 9 / 10))" --out "$file" 2>&1 | tee "$file.log"
  local code=${PIPESTATUS[0]}
  rows=$(grep -cE '^[a-z0-9-]+,.*,(encode|decode)' "$file" 2>/dev/null)
  said="${rows:-0} rows"
  [ "$code" -le 1 ] || said="$said: $(last_line "$file.log")"
  for word in 'left out' 'not reached' unfinished; do
    text=$(sed -n "s/^# $word: //p" "$file" 2>/dev/null | head -n 1)
    [ -z "$text" ] || said="$said; $word: $text"
  done
  rm -f "$file.log"
  return "$code"
}

# One page: what was done, and each compressor's bytes, seconds and rate beside the floor and what was predicted.
summary() {
  local tables=("$out"/large-*.csv "$out"/sizes.csv "$out"/baselines.csv) file there=()
  for file in "${tables[@]}"; do
    [ -f "$file" ] && there+=("$file")
  done
  echo "kernels/first-gpu.sh $budget: $(date -u +%F), $SECONDS s"
  echo
  cat "$out/steps.txt"
  if [ "${#there[@]}" -eq 0 ]; then
    printf '\nNo table was measured.\n'
    return
  fi
  grep -hE '^# (device|driver|commit|copy bandwidth|clocks|noisy|left out|not reached|unfinished):' "${there[0]}"
  awk -F, -f kernels/calibrate/floors.awk kernels/README.md kernels/calibrate/predicted.csv "${there[@]}"
}

step build 40 build
step sanitizer 10 sanitizer
step device-tests 12 device_tests
step calibrate-large 15 calibrate_large
step calibrate-sizes 12 calibrate_sizes
step baselines 6 baselines
step stress 5 stress
summary >"$out/summary.txt"
echo "$out/summary.txt"
exit $failed
