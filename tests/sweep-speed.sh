#!/usr/bin/env bash
# Compares a sweep of 150 small cells with two processes against one, and against the machine's own
# gain: two independent sweeps of 75 cells at the same time. Fails if the median of five rounds is less
# than the first argument (0.85) of that gain. A round counts only on an otherwise idle machine. Passes
# without a result if fewer than five of eight rounds count, or with one processor. Two processes that
# wait for each other get 1 / the machine's own gain; with a gain below 1.18 (two threads of one core)
# they cannot be told from two that do not, and the script passes.
set -euo pipefail
program=$(readlink -f "${2:-build/release/syncline}")
wanted=${1:-0.85}
if [ "$(nproc)" -lt 2 ]; then
  echo "speed of sweeps: not measured, this machine has one processor"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Busy processor seconds of all processes.
busy() {
  awk -v hertz="$(getconf CLK_TCK)" '/^cpu / { print ($2 + $3 + $4 + $7 + $8 + $9) / hertz }' /proc/stat
}

# Simulates cells with seeds $2 to $3, in $1 processes.
cells() {
  taskset -c "$processors" "$program" run --platform two-hosts --model resnet20 --throughput 100 --iterations 2 \
    --seed "$(seq -s, "$2" "$3")" --jobs "$1" --out "$folder/out$2" >"$folder/printed$2" 2>"$folder/errors$2"
}
one() { cells 1 1 150; }
two() { cells 2 1 150; }
apart() {
  cells 1 1 75 &
  cells 1 76 150
  wait $!
}

# Wall seconds of a command, and processor seconds of other processes.
measured() {
  rm -rf "$folder"/out*
  local before after real own
  before=$(busy)
  TIMEFORMAT='%R %U %S'
  read -r real own < <({ time "$1"; } 2>&1 | awk '{ print $1, $2 + $3 }')
  after=$(busy)
  awk -v real="$real" -v others="$(awk "BEGIN { print $after - $before - $own }")" 'BEGIN { print real, others }'
}
median() { printf '%s\n' "$@" | sort -n | sed -n 3p; }
processors=$(taskset -cp $$ | sed 's/.*: //')

speeds=()
possible=()
parts=()
for ((round = 0; round < 8 && ${#parts[@]} < 5; round++)); do
  read -r one others_of_one < <(measured one)
  read -r two others_of_two < <(measured two)
  read -r apart others_of_apart < <(measured apart)
  seconds="one process $one s, two $two s, two sweeps apart $apart s"
  if awk "BEGIN { exit !($others_of_one > 0.1 * $one || $others_of_two > 0.1 * $two || $others_of_apart > 0.1 * $apart) }"; then
    echo "$seconds; not counted: other processes used $others_of_one, $others_of_two and $others_of_apart s"
    continue
  fi
  echo "$seconds"
  speeds+=("$(awk "BEGIN { printf \"%.2f\", $one / $two }")")
  possible+=("$(awk "BEGIN { printf \"%.2f\", $one / $apart }")")
  parts+=("$(awk "BEGIN { printf \"%.2f\", $apart / $two }")")
done
if [ "${#parts[@]}" -lt 5 ]; then
  echo "speed of sweeps: not measured, the machine is not quiet"
  exit 0
fi
echo "speed of sweeps: two processes are $(median "${speeds[@]}") times as fast as one, two sweeps apart $(median "${possible[@]}") times"
echo "speed of sweeps: a sweep gets $(median "${parts[@]}") of the machine's gain; required: $wanted"
awk "BEGIN { exit !($(median "${parts[@]}") >= $wanted) }"
