#!/usr/bin/env bash
# Opens report pages in Chromium. Exits with 77 and a reason if a program that it needs is missing.
# page_test.sh PROGRAM SOURCE_FOLDER FOLDER_OF_NODE_MODULES
set -euo pipefail
program=$1 source=$2 modules=$3
skip() { echo "skipped: $1"; exit 77; }
command -v node >/dev/null || skip "Node is not installed (nodejs)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "Chromium is not installed (chromium)"
[ -d "$modules/node_modules/puppeteer-core" ] && [ -d "$modules/node_modules/axe-core" ] ||
  skip "puppeteer-core and axe-core are missing: cp $source/tests/page/package*.json $modules && npm ci --ignore-scripts --prefix $modules"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$program" run "$source/experiments/quickstart.cfg" --workers 1,4,8 --iterations 4 --out out --html quickstart.html >printed 2>&1 || {
  grep -q "built without Chart.js" printed && skip "the program was built without Chart.js (libjs-chart.js)"
  cat printed
  exit 1
}
grep -q '^page: quickstart.html$' printed

# The same with a script as the name of the model.
mkdir hostile
for result in out/*.json; do
  sed 's|"model": "resnet50"|"model": "<script>alert(1)</script>"|' "$result" >"hostile/${result##*/}"
done
"$program" report hostile --html hostile.html >/dev/null
grep -q 'alert(1)' hostile.html

# A map of two numeric options and a choice, and a page of simulated against measured.
"$program" run --platform pcie-8x4-10gbe --model resnet50 --workers 4,8,16 --bandwidth-factor 0.5,1 --schedule bsp,inhad \
  --exchange ring,ps --iterations 4 --html map.html >/dev/null
"$program" validate "$source/experiments/validation/mstopk-25gbe" --html validation.html >/dev/null

# Learning curves, one of which reaches the target.
"$program" run --platform straggler-8x1 --throughput 1000 --learn digits --schedule bsp,asp --iterations 100 \
  --until accuracy:0.8 --html learning.html >/dev/null

# Three schedules, each at the better of two rates, with three seeds; one seed chooses the rate.
"$program" run --platform straggler-8x1 --throughput 200 --learn digits --schedule bsp,asp,ssp --iterations 60 \
  --learning-rate 0.2,0.4 --best-of learning-rate --seed 1,2,3 --until loss:0.5 --html seeds.html >/dev/null

"$program" run "$source/experiments/quickstart.cfg" --workers 8 --exchange ring --schedule bsp --iterations 4 --html one.html >/dev/null

# A rate beside its scenario, with causes that it cannot tell apart.
"$program" explain --platform pcie:nodes=4:gpus=4:cards=1x25Gbps:roce:pcie=12GBps --model vgg16 --throughput 130.9 \
  --batch 64 --framework horovod --measured 1308.7 --html measured.html >/dev/null

node "$source/tests/page/page_test.mjs" "$modules" "$chromium" \
  "$folder"/{quickstart,hostile,map,validation,learning,seeds,one,measured}.html
