#!/usr/bin/env bash
# samples/slurm/build.sh DATA OUT PARTS [options of `xtts-precompute plan`]: builds a corpus by a Slurm array.
# DATA and OUT are folders that all nodes see. OUT gets the plan, the parts, a set of all of them, and logs.
#
#   AT_ONCE=50 samples/slurm/build.sh /data/corpus /data/out 500 --recipe tacotron2 --isa avx2
#   LIMITS='--max-rejects 10%' samples/slurm/build.sh ...     # how much may be lost, in all parts together
#   SBATCH_PARTITION=cpu samples/slurm/build.sh ...     # sbatch reads such variables: account, partition, qos
#
# After any interruption run the same command again: finished parts take a second each.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,9s/^# \?//p' "$0"; exit 2; }
data=$(realpath "$1") out=$(realpath -m "$2") parts=$3
here=$(dirname "$(realpath "$0")")
shift 3
read -ra limits <<<"${LIMITS:-}"
mkdir -p "$out/parts" "$out/logs"
xtts-precompute plan "$data" "$out/plan" --parts "$parts" "$@" "${limits[@]}"

# AT_ONCE: how many parts run at the same time, so that the disks of DATA are not asked for more.
# A cluster's MaxArraySize, often 1001, is more than the most PARTS.
array=$(sbatch --parsable --array="1-$parts%${AT_ONCE:-100}" --output="$out/logs/%4a.log" "$here/part.sh" \
  "$out" "${limits[@]}")
# It runs once all parts are there. If one has failed, it goes away.
set=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes --output="$out/logs/set.log" \
  "$here/set.sh" "$out" "${limits[@]}")
echo "array $array, then job $set: squeue --me shows them, $out/logs has what they say"
