#!/usr/bin/env bash
# Records the output and files of some 250 commands of a build, to compare two builds: run
# tests/corpus/record.sh build/release/syncline /tmp/before, repeat with another build, then diff -r.
# Text that differs between any two builds or runs is removed. Takes about a minute.
set -uo pipefail
program=$(realpath "$1")
mkdir -p "$(dirname "$2")"
mkdir "$2" || exit 1  # existing files would be compared too
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# say NAME ARGUMENTS...: records the output of a command and its exit code.
say() {
  local name=$1
  shift
  "$program" "$@" >"$folder/$name.out" 2>"$folder/$name.err"
  echo "exit code $?" >>"$folder/$name.err"
}

# keep NAME ARGUMENTS...: also records the files of --out and every kind of report of a run or sweep.
keep() {
  local name=$1
  shift
  mkdir -p "$work/$name"
  say "$name" run "$@" --out "$work/$name" --html "$work/$name/page.html"
  say "$name.report" report "$work/$name" --svg "$work/$name/svg" --md "$work/$name/summary.md"
  say "$name.json" report "$work/$name" --json
  cp -r "$work/$name" "$folder/$name.files"
}

cluster="--platform gbe-32x1 --throughput 300"
gbe="$cluster --model resnet50"
iters="--iterations 20 --repeats 1"
keep single $gbe --workers 4 --schedule bsp --exchange ring
keep workers $gbe --workers 1,2,4,8 --schedule bsp,asp --exchange ring,ps $iters
keep schedules $gbe --workers 6 --schedule bsp,asp,ssp,inhad,local-sgd $iters --jitter 0.1
keep exchanges --platform pcie-8x4-10gbe --model resnet50 --workers 16 --exchange ring,tree,halving-doubling,hierarchical,ps,alltoall --price 2 --epoch-samples 1281167
keep compressors --platform pcie-8x4-10gbe --model resnet50 --workers 8 --schedule topk-sgd --compressor topk,gaussiank,randomk,dgc --exchange allgather,gtopk,oktopk --density 0.01,0.001 --device v100-modelled
keep quantised --platform pcie-8x4-10gbe --model resnet50 --workers 8 --compressor qsgd,terngrad,efsign,powersgd,none --device v100-modelled --exchange allgather,ring
keep repeats $gbe --workers 4 --schedule asp,inhad --jitter 0.2 --repeats 3
keep batch $gbe --workers 8 --batch 32,64
keep network $gbe --workers 8 --network exact,lv08 --exchange ring,tree
keep twins $gbe --workers 8 --precision fp32,fp16 --servers 1,2 --schedule bsp --exchange ps
keep jitters $gbe --workers 8 --jitter 0,0.1 --schedule bsp,asp $iters
keep map $gbe --workers 4,8,16 --bandwidth-factor 0.5,1,2,4 --exchange ring,tree,ps $iters
keep learning $cluster --workers 4 --model resnet20 --learn digits --schedule bsp,asp,ssp,local-sgd --until accuracy:0.9 --iterations 60
keep learned --platform pcie-8x4-10gbe --model resnet20 --workers 4 --throughput 300 --learn digits --schedule topk-sgd --compressor topk,gaussiank --exchange allgather --density 0.05 --iterations 40 --device v100-modelled
keep diverges $cluster --workers 4 --model resnet20 --learn digits --learning-rate 0.1,1000 --iterations 30
keep skewed $cluster --workers 4 --model resnet20 --learn softmax --data generated --samples 300 --skew none,0.5 --iterations 30
for format in goal chakra; do
  say "$format" run $gbe --workers 3 --iterations 3 "--$format" "$work/one.$format"
done
cp "$work"/one.* "$folder"
say traces run $gbe --workers 3 --schedule bsp,asp,inhad,ssp --iterations 4 --out "$work/traces" --trace
cp -r "$work/traces" "$folder/traces.files"
say json run $gbe --workers 2,4 --json
say resumed run $gbe --workers 1,2,4,8 --schedule bsp,asp --exchange ring,ps $iters --out "$work/workers" --resume
say share run $gbe --workers 1,2,4,8 --out "$work/share" --share 1/2
say quickstart run experiments/quickstart.cfg --workers 4,8 --out "$work/quickstart"

say check check experiments/check/training --junit "$folder/junit.xml" --md "$folder/check.md"
say check.json check experiments/check/training --json
cp -r experiments/check/training "$work/moved"
sed -i 's/^workers = .*/workers = 4/' "$work"/moved/*.cfg
say moved check "$work/moved" --md "$folder/moved.md"
say bless check "$work/moved" --bless --because 'fewer workers'
cp "$work/moved/expected.csv" "$folder"
say validate validate experiments/validation/mstopk-25gbe experiments/validation/qsgd-k80 --html "$work/validation.html" --md "$folder/validation.md" --junit "$folder/validation.xml" --max-error 0.1
say validate.json validate experiments/validation/qsgd-k80 --json
cp "$work/validation.html" "$folder"

for schedule in bsp asp ssp inhad local-sgd; do
  say "explain.$schedule" explain $gbe --workers 8 --schedule $schedule --compressor topk --device v100-modelled
  say "explain.$schedule.json" explain $gbe --workers 8 --schedule $schedule --json
done
say list list
for kind in schedules exchanges compressors models platforms networks throughputs devices problems; do
  say "list.$kind" list $kind
  say "list.$kind.json" list $kind --json
done
say help help
say usage --help
say version --version
"$program" help help >/dev/null 2>&1
words="$(sed -n 's/^  *--\([a-z-]*\).*/\1/p' "$folder/usage.out") $(sed -n 's/^ *"\([a-z0-9_]*\)":.*/\1/p' "$folder/single.json.out" | sort -u | head -400)"
words+=" samples/s scaling epoch cost iteration compute exposed waiting stale sent/worker target"
for word in $words; do
  say "help.$(echo "$word" | tr / _)" help "$word"
done

# Commands that are refused.
n=0
while read -r line; do
  n=$((n + 1))
  eval "say refused.$n $line"
done <<'LINES'
run
run --platform nowhere --model resnet50
run --platform gbe-32x1 --model nothing
run --platform gbe-32x1 --model resnet50
run --platform gbe-32x1 --model resnet50 --throughput 300 --schedule asp --exchange ring
run --platform gbe-32x1 --model resnet50 --throughput 300 --workers 64
run --platform gbe-32x1 --model resnet50 --throughput 300 --density 2 --compressor topk
run --platform gbe-32x1 --model resnet50 --throughput 300 --compressor topk
run --platform gbe-32x1 --model resnet50 --throughput 300 --batch 0
run --platform gbe-32x1 --model resnet50 --throughput 300 --batsh 3
run --platform gbe-32x1 --model resnet50 --throughput 300 --staleness 3
run --platform gbe-32x1 --model resnet50 --throughput 300 --momentum 0.9
run --platform gbe-32x1 --model resnet50 --throughput 300 --until accuracy:0.9
run --platform gbe-32x1 --model resnet50 --throughput 300 --resume
run --platform gbe-32x1 --model resnet50 --throughput 300 --trace
run --platform gbe-32x1 --model resnet50 --throughput 300 --share 3/2
run --platform gbe-32x1 --model resnet50 --throughput 300 --workers 1,2 --goal x.goal
run --platform gbe-32x1 --model resnet50 --throughput 300 --optimizer adam
run --platform gbe-32x1 --model resnet50 --throughput 300 --network wifi
check .
check experiments/check
report .
report nowhere
validate .
validate
help nothing-of-this-name
list nothing-of-this-name
explain
frobnicate
LINES

# Puts each member of a page's data on a line, and removes text that differs between any two builds or runs.
find "$folder" -name '*.html' -print0 | while IFS= read -r -d '' page; do
  python3 - "$page" <<'PYTHON'
import json, re, sys
path = sys.argv[1]
text = open(path, encoding='utf-8').read()
data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
open(path + '.data', 'w').write(json.dumps(json.loads(data.group(1)), indent=1, ensure_ascii=False) if data else text)
without = text.replace(data.group(1), '') if data else ''
open(path, 'w').write('\n'.join(line for line in without.split('\n') if len(line) < 5000))
PYTHON
done
find "$folder" -type f -print0 | xargs -0 sed -i -E \
  -e "s#$work#WORK#g" -e 's/("build": ?")[0-9a-f]*/\1/' -e 's/"(build)", ?\["[0-9a-f]*"/"\1", ["/' \
  -e 's/time="[0-9.]*"//' -e 's/[0-9.]+ (m?s|min|MB|GB)( of one core| of a core)/TIME\2/g'
sed -i -z -E 's/("build",\s*\[\s*")[0-9a-f]*/\1/g' "$folder"/*.data "$folder"/*/*.data 2>/dev/null
echo "$(find "$folder" -type f | wc -l) files in $folder"
