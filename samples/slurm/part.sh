#!/usr/bin/env bash
# One part of samples/slurm/build.sh: an element of its array.
#SBATCH --job-name=xtts-part
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -uo pipefail
out=$1 part=$(printf %04d "$SLURM_ARRAY_TASK_ID")
shift

# SIGTERM comes where the part is preempted or cancelled, SIGUSR1 two minutes before --time is over. For
# both, the builder finishes the clips in hand, and the same command goes on from there.
ends_early=
trap 'kill -TERM "$builder"' TERM
trap 'ends_early=1; kill -TERM "$builder"' USR1
xtts-precompute build --part "$out/plan/$part" "$out/parts/$part" -j "${SLURM_CPUS_PER_TASK:-1}" "$@" &
builder=$!
# A signal ends `wait` before the builder has ended.
while kill -0 "$builder" 2>/dev/null; do wait "$builder"; done
wait "$builder"
code=$?

# Slurm itself requeues what it preempts, and what was on a node that failed.
if [ -n "$ends_early" ] && [ "$code" -ne 0 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
