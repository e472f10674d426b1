#!/usr/bin/env bash
# Runs 40 cells on a real Slurm: munged, slurmctld and slurmd, started in a temporary folder and always
# stopped afterwards. Kills a task, submits the missing cells with the same command, and compares the
# results with a local run, byte by byte. Exit code 77 if a program or root is missing.
set -euo pipefail
program=$(readlink -f "$1")
PATH=$PATH:/usr/sbin

skip() {
  echo "skipped: $1"
  exit 77
}
for needed in munged slurmctld slurmd sbatch scancel squeue; do
  command -v $needed >/dev/null || skip "$needed is not installed (slurm-wlm, munge)"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd starts jobs as root only"

folder=$(mktemp -d)
daemons=()
finish() {
  local code=$?
  if [ $code -ne 0 ] && [ $code -ne 77 ]; then
    tail -n 20 "$folder"/*.log "$folder"/out/slurm/*.log 2>/dev/null || true
  fi
  scancel --user root >/dev/null 2>&1 || true
  for daemon in "${daemons[@]}"; do # last one first: slurmd ends its steps
    kill "$daemon" 2>/dev/null || true
  done
  for daemon in "${daemons[@]}"; do
    for ((i = 0; i < 100; i++)); do
      kill -0 "$daemon" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$daemon" 2>/dev/null || true
  done
  rm -rf "$folder"
  exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
  echo "failed: $1"
  exit 1
}
# Repeats a command until it succeeds, for at most three minutes.
wait_until() {
  for ((i = 0; i < 1800; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  fail "no success within three minutes: $*"
}

# munged requires folders that nobody else can write to.
mkdir "$folder/munge" "$folder/state" "$folder/spool"
chmod 755 "$folder" "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 600 "$folder/munge/key"
socket=$folder/munge/socket
munged --foreground --force --key-file="$folder/munge/key" --socket="$socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munged.log" --seed-file="$folder/munge/seed" >/dev/null 2>&1 &
daemons=($!)
wait_until test -S "$socket"

host=$(hostname -s)
ports=$((20000 + $$ % 20000))
cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$ports
SlurmdPort=$((ports + 1))
AuthType=auth/munge
AuthInfo=socket=$socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -D >/dev/null 2>&1 &
daemons=($! "${daemons[@]}")
slurmd -D -N "$host" >/dev/null 2>&1 &
daemons=($! "${daemons[@]}")
wait_until bash -c "sinfo --noheader --format=%T | grep -qx idle"

# 40 cells of at least a tenth of a second, so that a task of ten can be killed in the middle.
cat >"$folder/x.cfg" <<CFG
platform = pcie-8x4-10gbe
model = resnet50
throughput = 100
workers = 16
jitter = 0.1
iterations = 20
seed = $(seq -s, 20)

[plain]

[it's 100% ps]
exchange = ps
CFG
cd "$folder"
"$program" run x.cfg --out local >local.table

submit() { "$program" run x.cfg --out out --slurm 4 >submitted; }
jobs_left() { squeue --noheader --array --format='%K %T'; }
all_ended() { [ -z "$(jobs_left)" ]; }
results() { find out -maxdepth 1 -name '*.json' | wc -l; }
any_of_task_2() { [ -e out/name-plain_seed-2.json ] || [ -e out/name-plain_seed-5.json ]; }

submit
grep -q '^submitted job [0-9]*: 4 tasks for 40 cells' submitted || fail "unexpected output: $(cat submitted)"
job=$(sed -n 's/^submitted job \([0-9]*\):.*/\1/p' submitted)
wait_until any_of_task_2
scancel --signal=KILL --full "${job}_2"
wait_until all_ended
missing=$((40 - $(results)))
[ "$missing" -gt 0 ] || fail "the task had ended before it was killed"

submit
grep -q "^submitted job [0-9]*: 1 tasks for $missing cells" submitted || fail "unexpected output: $(cat submitted)"
wait_until all_ended
[ "$(results)" -eq 40 ] || fail "there are $(results) results"

submit # nothing is missing, so the table is printed
cmp submitted local.table || fail "the table differs from a local run"
diff -r --exclude=slurm local out || fail "the files differ from a local run"
echo "40 cells on Slurm, one task of four killed, $missing cells submitted again: same results as a local run"
