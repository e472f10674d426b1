#!/usr/bin/env bash
# Runs one of the experiments that learn and draws its figures: experiments/run.sh cat. What their
# figure.py needs is installed, and the program built, if it is not there yet.
set -euo pipefail
cd "$(dirname "$0")/.."
source ./setup.sh
packages+=(python3 python3-matplotlib)
name=${1:-}
if [ $# -ne 1 ] || [ ! -f "experiments/$name/figure.py" ]; then
  allowed=$(cd experiments && grep -l 'import plots' -- */figure.py | xargs -n1 dirname | paste -sd, | sed 's/,/, /g')
  echo "experiments/run.sh: no experiment '$name': allowed are $allowed" >&2
  exit 2
fi
build syncline >&2
# Debian's own, which is the one that its packages are for.
exec /usr/bin/python3 "experiments/$name/figure.py"
