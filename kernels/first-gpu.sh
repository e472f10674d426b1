#!/usr/bin/env bash
# Builds, tests and measures the CUDA kernels on a machine with a GPU, within a limit of seconds.
#
#   kernels/first-gpu.sh SECONDS [FOLDER]    runs every step, the most valuable first (an H100 took 490 s)
#   kernels/first-gpu.sh pack FOLDER         first, on a machine with CUDA but no GPU: builds programs for sm_90 that need no
#                                            libraries; then set FIRST_GPU_BUILD=FOLDER on the machine with the GPU
#
# Results are at most six files in FOLDER ($OUT, or build/first-gpu): summary.txt, large.csv, sizes.csv, rivals.csv,
# tests.txt, and rest.tgz with every log and table. They are rewritten after each step, so a killed run keeps its finished
# steps. No step may exceed its slice of the time. The exit code is 1 if a step failed or was not reached.
#
# FIRST_GPU_BUILD: build folder; programs already there are used as they are.
# FIRST_GPU_LARGE, FIRST_GPU_SIZES: sizes to measure instead of 2^28, and of 2^24,2^20,...
# shellcheck disable=SC2317  # steps are called by name
set -uo pipefail
kernels=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer

if [ "${1:-}" = pack ] && [ $# -eq 2 ]; then
  mkdir -p "$2" && into=$(cd "$2" && pwd) && build=$(mktemp -d) || exit 2
  cmake -S "$kernels" -B "$build" -DCMAKE_BUILD_TYPE=Release -DSYNCLINE_NATIVE=OFF -DSYNCLINE_WERROR=OFF \
    -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc" \
    -DOpenMP_gomp_LIBRARY="$(g++ -print-file-name=libgomp.a)" &&
    cmake --build "$build" -j "$(nproc)" --target syncline-calibrate kernels_test &&
    find "$build" \( -name syncline-calibrate -o -name kernels_test \) -type f -exec cp {} "$into" \; &&
    strip "$into/syncline-calibrate" "$into/kernels_test"
  code=$?
  rm -rf "$build"
  exit $code
fi

budget=${1:-}
if ! [[ $budget =~ ^[1-9][0-9]{0,5}$ ]] || [ $# -gt 2 ]; then
  echo "usage: kernels/first-gpu.sh SECONDS [FOLDER], or pack FOLDER: seconds are a whole number from 1 to 999999" >&2
  exit 2
fi
out=${2:-${OUT:-$kernels/../build/first-gpu}}
build=${FIRST_GPU_BUILD:-$kernels/../build/first-gpu-build}
large=${FIRST_GPU_LARGE:-2^28}
sizes=${FIRST_GPU_SIZES:-2^24,2^20,2^22,2^18,2^16,2^12,2^8,2^26}
mkdir -p "$out" && work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
failed=0

left() { echo $((budget > SECONDS ? budget - SECONDS : 0)); }

# Runs a command for at most this many seconds; returns 124 on timeout.
within() { # seconds, command
  local begun=$SECONDS code
  [ "$1" -ge 1 ] || return 124
  timeout --signal=KILL "$@"
  code=$?
  [ "$code" -ne 137 ] || [ $((SECONDS - begun)) -lt "$1" ] || return 124
  return "$code"
}

# Seconds that the current step has left.
slice() { echo $((step_end > SECONDS ? step_end - SECONDS : 0)); }

# A step's function returns 0, 3 if it could not begin, 124 on timeout, or another code on failure. `said` is its report line.
step() { # name, percent of the budget at most, function
  local begun=$SECONDS most=$((budget * $2 / 100)) state
  [ "$most" -le "$(left)" ] || most=$(left)
  step_end=$((SECONDS + most))
  said=''
  if [ "$most" -lt 3 ]; then
    state='not reached'
  else
    "$3" >"$work/$1.log" 2>&1
    case $? in
      0) state='done' ;;
      3) state='not possible' ;;
      124) state='out of time' ;;
      *) state='FAILED' ;;
    esac
  fi
  [ "$state" = "done" ] || failed=1
  printf '%-14s %-12s %4d of %4d s  %s\n' "$1" "$state" $((SECONDS - begun)) "$most" "${said# }" | tee -a "$work/steps.txt"
  publish
}

# Writes the results so far into six files.
publish() {
  local file tables=()
  if compgen -G "$work/large-*.csv" >/dev/null; then
    awk 'FNR == 1 && NR > 1 { print "# ---" } { print }' "$work"/large-*.csv >"$out/large.csv"
  fi
  for file in sizes.csv rivals.csv tests.txt; do
    [ ! -s "$work/$file" ] || cp "$work/$file" "$out/$file"
  done
  for file in "$work"/large-*.csv "$work/sizes.csv" "$work/rivals.csv"; do
    [ ! -s "$file" ] || tables+=("$file")
  done
  {
    echo "kernels/first-gpu.sh $budget: $(date -u +%FT%TZ), $SECONDS s"
    cat "$work/machine.txt" 2>/dev/null
    echo
    cat "$work/steps.txt"
    if [ ${#tables[@]} -eq 0 ]; then
      printf '\nNo table was measured.\n'
    else
      grep -hE '^# (device|driver|copy bandwidth|clocks|noisy|left out|not reached|unfinished):' "${tables[0]}"
      awk -F, -f "$kernels/calibrate/floors.awk" "$kernels/README.md" "$kernels/calibrate/predicted.csv" "${tables[@]}"
    fi
  } >"$out/summary.txt"
  tar czf "$out/rest.tgz" -C "$work" .
}

# Builds the programs and checks that they find a device.
build() {
  local architecture tool
  if ! [ -x "$build/syncline-calibrate" ]; then
    for tool in nvcc cmake; do
      command -v "$tool" >/dev/null || { said="$tool is missing"; return 3; }
    done
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
    within "$(slice)" cmake -S "$kernels" -B "$build" -DCMAKE_BUILD_TYPE=Release -DSYNCLINE_WERROR=OFF \
      -DCMAKE_CUDA_ARCHITECTURES="${architecture:-90}" || { said='cmake: see build.log'; return 1; }
    if grep -q '^CMAKE_CUDA_COMPILER:.*NOTFOUND' "$build/CMakeCache.txt"; then
      said='nvcc does not compile: see build.log'
      return 1
    fi
    within "$(slice)" cmake --build "$build" -j "$(nproc)" --target syncline-calibrate ||
      { said='the calibrator: see build.log'; return 1; }
    [ ! -d "$build/tests" ] || within "$(slice)" cmake --build "$build" -j "$(nproc)" --target kernels_test ||
      said='the tests do not build: see build.log; '
  fi
  { nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader; nvcc --version | tail -n 1; lscpu | grep '^Model name'; } >"$work/machine.txt" 2>/dev/null
  calibrates smoke --compressors none,topk --densities 0.01 --sizes 1000 --baselines off || { said="$said$problem"; return 1; }
  said="${said}both programs run"
  [ -x "$(tests_program)" ] || said='no tests: GoogleTest is missing, or they were not built'
}
tests_program() { find "$build" -name kernels_test \( -type f -o -type l \) 2>/dev/null | head -n 1; }
usable() { [ -s "$work/smoke.csv" ] || { said='the calibrator does not run here'; return 3; }; }

calibrates() { # table, options; stays within the slice and leaves an error message in `problem`
  local code
  problem=''
  within "$(slice)" "$build/syncline-calibrate" --device cuda --distributions gauss "${@:2}" --out "$work/$1.csv" \
    2>"$work/$1.err"
  code=$?
  cat "$work/$1.err"
  [ "$code" -eq 0 ] || [ "$code" -eq 124 ] || problem=$(tail -n 1 "$work/$1.err" | cut -c 1-200)
  return "$code"
}

# Each compressor has its own process and table, so that a crash ends only one.
large() {
  usable || return
  local name count=0 bad='' feedback code=0 end=$step_end
  for name in topk qsgd efsign gaussiank powersgd threshold chunk-topk mstopk; do
    feedback=error-feedback=on
    [ "$name" != qsgd ] || feedback=error-feedback=on,error-feedback=off
    step_end=$((SECONDS + ($(slice) + 1) / 2))  # half of the time left, in case it hangs
    if calibrates "large-$name" --compressors "$name" --sizes "$large" --densities 0.01 \
      --baselines off --set "$feedback"; then
      count=$((count + 1))
      publish
    else
      code=$?
      bad="$bad, $name: ${problem:-out of time}"
    fi
    step_end=$end
  done
  said="$count of 8 at $large$bad"
  return "$code"
}

count() { # pattern, file (may be missing)
  { grep -cE "$1" "$2" || [ -e "$2" ] || echo 0; } 2>/dev/null
}

rows_of() { # table
  echo "$(count '^[a-z0-9-]+,.*,(encode|decode)' "$work/$1.csv") rows$(sed -nE 's/^# ((left out|not reached|unfinished): .*)/; \1/p' "$work/$1.csv" 2>/dev/null | cut -c 1-200 | tr -d '\n')"
}
sizes() {
  usable || return
  calibrates sizes --sizes "$sizes" --densities 0.01 --baselines off --budget $(($(slice) * 85 / 100))
  local code=$?
  said=$(rows_of sizes)
  return "$code"
}
rivals() {
  usable || return
  calibrates rivals --compressors topk,gaussiank,qsgd,efsign,dgc --sizes "${sizes##*,}" --densities 0.01 --baselines on \
    --budget $(($(slice) * 6 / 10))
  local code=$?
  said=$(rows_of rivals)
  if python3 -c 'import torch' 2>/dev/null; then
    within "$(slice)" python3 "$kernels/calibrate/baseline_torch.py" --device cuda --sizes "${sizes##*,}" \
      --published topk,gaussiank,qsgd,efsign,dgc --append "$work/rivals.csv" && said="$said; PyTorch"
  else
    said="$said; no PyTorch here"
  fi
  return "$code"
}

# Runs tests in parallel, one process each. A test that was killed or skipped has not passed.
run_tests() { # pattern of names
  local program names name passed width
  program=$(tests_program)
  [ -x "$program" ] || { said='there is no kernels_test: GoogleTest is missing, or it was not built'; return 3; }
  mapfile -t names < <(within "$(slice)" "$program" --gtest_list_tests |
    awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }' | grep -E "$1")
  width=$(($(nproc) > 12 ? 12 : $(nproc)))
  : >"$work/results.txt"
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$width" ]; do wait -n; done
    [ "$(slice)" -ge 1 ] || break
    (
      log=$work/test-${name//[^A-Za-z0-9]/-}.log
      OMP_NUM_THREADS=1 within "$(slice)" "$program" --gtest_filter="$name" >"$log" 2>&1
      code=$?
      if [ "$code" -eq 124 ]; then
        echo "out of time $name"
      elif [ "$code" -ne 0 ]; then
        echo "WRONG $name (code $code): $(grep -m 2 -E 'Failure|rror' "$log" | tr '\n' ' ' | cut -c 1-200)"
      elif grep -q 'SKIPPED' "$log"; then
        echo "skipped $name"
      else
        echo "passed $name"
      fi >>"$work/results.txt"
    ) &
  done
  wait
  cat "$work/results.txt" >>"$work/tests.txt"
  passed=$(grep -c '^passed' "$work/results.txt")
  said="$passed of ${#names[@]} passed, $(grep -c '^WRONG' "$work/results.txt") wrong, $(grep -c '^skipped' "$work/results.txt") skipped, $(grep -c '^out' "$work/results.txt") out of time, $((${#names[@]} - $(wc -l <"$work/results.txt"))) never begun"
  [ "$passed" -gt 0 ] && [ "$passed" -eq ${#names[@]} ]
}
device_tests() { run_tests '^(EveryCuda|Device(Baselines|Topk|Powersgd))'; }
stress() { run_tests '^DeviceStress'; }

works() { # program
  "$1" --version >/dev/null 2>&1 || { said="$1 is missing"; return 3; }
}

# Runs a small case of each compressor.
sanitizer() {
  usable && works compute-sanitizer || return
  local tool bad=0 code
  for tool in memcheck racecheck synccheck; do
    within $(($(slice) / 2 + 1)) compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/syncline-calibrate" --device cuda \
      --sizes 9001 --densities 0.01 --distributions gauss --baselines off --budget $(($(slice) / 3 + 1)) --out "$work/$tool.csv"
    code=$?
    case $code in
      0) said="$said $tool clean" ;;
      9) said="$said $tool NOT CLEAN" bad=1 ;;
      124) said="$said $tool out of time" bad=124 ;;
      *) said="$said $tool code $code" bad=1 ;;
    esac
    said="$said ($(count ',encode,' "$work/$tool.csv") compressors);"
  done
  return "$bad"
}

# Counts DRAM bytes in hardware, to compare with kernels/README.md.
counters() {
  usable && works ncu || return
  local name
  for name in topk qsgd gaussiank efsign powersgd mstopk; do
    [ "$(slice)" -ge 5 ] || { said='; not all'; break; }
    within "$(slice)" ncu --clock-control none --launch-count 40 \
      --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum "$build/syncline-calibrate" --device cuda \
      --compressors "$name" --sizes 2^24 --densities 0.01 --distributions gauss --baselines off --set error-feedback=on \
      --out "$work/counted-$name.csv"
  done >"$work/ncu.txt" 2>&1
  said="$(grep -c gpu__time_duration "$work/ncu.txt") launches$said"
  grep -q gpu__time_duration "$work/ncu.txt"
}

: >"$work/steps.txt"
step build 40 build
step large 20 large
step sizes 20 sizes
step tests 35 device_tests
step rivals 12 rivals
step counters 10 counters
step sanitizer 12 sanitizer
step stress 12 stress
echo "$out/summary.txt"
exit $failed
