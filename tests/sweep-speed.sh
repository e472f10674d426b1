#!/usr/bin/env bash
# Two processes at a time against one, for a sweep of 150 small cells: the median of five pairs of
# runs, which must be at least the first argument (1.8). No test, because it is about time: a pair
# counts only if the machine had nothing else to do, and where there are not five such pairs of
# eight, or not two processors, nothing is said.
set -euo pipefail
program=$(readlink -f "${2:-build/release/syncline}")
wanted=${1:-1.8}
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

# Seconds that the sweep takes with so many processes, and the processor seconds of others.
sweep() {
  rm -rf "$folder/out"
  local before after real own
  before=$(busy)
  TIMEFORMAT='%R %U %S'
  read -r real own < <({ time taskset -c "$processors" "$program" run --platform two-hosts --model resnet20 \
    --throughput 100 --iterations 2 --seed "$(seq -s, 150)" --jobs "$1" --out "$folder/out" \
    >"$folder/printed" 2>"$folder/errors"; } 2>&1 | awk '{ print $1, $2 + $3 }')
  after=$(busy)
  awk -v real="$real" -v others="$(awk "BEGIN { print $after - $before - $own }")" 'BEGIN { print real, others }'
}
processors=$(taskset -cp $$ | sed 's/.*: //')

ratios=()
for ((pair = 0; pair < 8 && ${#ratios[@]} < 5; pair++)); do
  read -r one others_of_one < <(sweep 1)
  read -r two others_of_two < <(sweep 2)
  if awk "BEGIN { exit !($others_of_one > 0.1 * $one || $others_of_two > 0.1 * $two) }"; then
    echo "one process $one s, two $two s; does not count: others had $others_of_one and $others_of_two s of processors"
    continue
  fi
  ratios+=("$(awk "BEGIN { printf \"%.2f\", $one / $two }")")
  echo "one process $one s, two $two s: ${ratios[-1]} times as fast"
done
if [ "${#ratios[@]}" -lt 5 ]; then
  echo "speed of sweeps: not measured, the machine is not quiet"
  exit 0
fi
median=$(printf '%s\n' "${ratios[@]}" | sort -n | sed -n 3p)
echo "speed of sweeps: two processes are $median times as fast as one, at least $wanted is wanted"
awk "BEGIN { exit !($median >= $wanted) }"
