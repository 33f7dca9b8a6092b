# tests/slurm/cluster.sh: functions that start a Slurm of several nodes on this machine, for slurm.sh.
# Everything lies in $folder: the real slurmctld, one slurmd a node, and munged, which signs what they say.

# shellcheck disable=SC2154  # folder and port are the script's

# start_slurm NODE_COUNT: returns when all nodes are idle.
start_slurm() {
  local nodes=$1 number
  mkdir -p "$folder/slurm" "$folder/state"
  chmod 755 "$folder" "$folder/slurm"
  dd if=/dev/urandom of="$folder/slurm/munge.key" bs=1024 count=1 status=none
  chmod 600 "$folder/slurm/munge.key"
  munged --force --foreground --key-file="$folder/slurm/munge.key" --socket="$folder/slurm/munge.socket" \
    --pid-file="$folder/slurm/munge.pid" --log-file="$folder/slurm/munge.log" --seed-file="$folder/slurm/munge.seed" \
    2>"$folder/slurm/out-munged" &
  daemons=("$!")
  export SLURM_CONF=$folder/slurm/slurm.conf
  {
    cat <<EOF
ClusterName=test
SlurmctldHost=$(hostname)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$folder/slurm/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,requeue_delay=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/slurm/spool-%n
SlurmctldPidFile=$folder/slurm/slurmctld.pid
SlurmdPidFile=$folder/slurm/slurmd-%n.pid
SlurmctldLogFile=$folder/slurm/slurmctld.log
SlurmdLogFile=$folder/slurm/slurmd-%n.log
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=10
MinJobAge=300
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10
EOF
    for number in $(seq "$nodes"); do
      echo "NodeName=node$number NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + number)) CPUs=4 RealMemory=5000"
    done
  } >"$SLURM_CONF"
  wait_for "munged" munge -S "$folder/slurm/munge.socket" -n
  slurmctld -D -f "$SLURM_CONF" >"$folder/slurm/out-ctld" 2>&1 &
  daemons+=("$!")
  for number in $(seq "$nodes"); do start_node "$number"; done
  wait_for "idle nodes" all_idle "$nodes"
}

start_node() {
  mkdir -p "$folder/slurm/spool-node$1"
  slurmd -D -N "node$1" -f "$SLURM_CONF" >"$folder/slurm/out-$1" 2>&1 &
  node_pids[$1]=$!
}

# switch_off NODE: kills slurmd, then those who would still tell how the node's jobs have ended, then the
# jobs. $off is then the node's number.
switch_off() {
  local process job
  off=${1#node}
  kill -KILL "${node_pids[$off]}"
  for job in $(squeue --noheader --nodelist="$1" --format=%A); do
    for process in /proc/[0-9]*; do
      grep -qa "^slurmstepd: \[$job\." "$process/cmdline" 2>/dev/null && kill -KILL "${process#/proc/}"
    done
  done
  for process in /proc/[0-9]*; do
    grep -qz "^SLURMD_NODENAME=$1$" "$process/environ" 2>/dev/null && kill -KILL "${process#/proc/}"
  done
  true
}

all_idle() {
  [ "$(sinfo --noheader --Node --partition=cpu --states=idle | wc -l)" -eq "$1" ]
}

# wait_for WHAT COMMAND...: until the command ends well, for a minute.
wait_for() {
  local what=$1
  shift
  for _ in {1..300}; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  tail -n 20 "$folder"/slurm/*.log "$folder"/slurm/out-* >&2
  fail "no $what after a minute"
}

stop_slurm() {
  scancel --full --state=RUNNING --user="$(id -un)" 2>/dev/null || true
  kill "${node_pids[@]}" "${daemons[@]}" 2>/dev/null || true
  wait "${node_pids[@]}" "${daemons[@]}" 2>/dev/null || true
}
