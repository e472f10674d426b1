#!/usr/bin/env bash
# Two processes at a time against one, for a sweep of 150 small cells, and against what this machine
# can do: two sweeps of 75 cells, started together, which know nothing of each other. The median of
# five such rounds says how much of the machine's own gain a sweep gets; at least the first argument
# (0.85) is wanted. No test, because it is about time: a round counts only if the machine had nothing
# else to do, and nothing is said where there are not five such rounds of eight, or not two processors.
# Two that wait for each other get 1 / the machine's own gain, so a gain below 1.18 (two threads of one
# core) cannot tell them from two that do not, and is not held against them.
set -euo pipefail
program=$(readlink -f "${2:-build/release/syncline}")
wanted=${1:-0.85}
if [ "$(nproc)" -lt 2 ]; then
  echo "speed of sweeps: not measured, this machine has one processor"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Seconds of processors that were busy, whoever used them.
busy() {
  awk -v hertz="$(getconf CLK_TCK)" '/^cpu / { print ($2 + $3 + $4 + $7 + $8 + $9) / hertz }' /proc/stat
}

# Simulates cells with the seeds from $2 to $3, $1 processes at a time.
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

# Seconds that it takes, and the processor seconds of others.
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
    echo "$seconds; does not count: others had $others_of_one, $others_of_two and $others_of_apart s of processors"
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
echo "speed of sweeps: a sweep gets $(median "${parts[@]}") of what the machine can do, at least $wanted is wanted"
awk "BEGIN { exit !($(median "${parts[@]}") >= $wanted) }"
