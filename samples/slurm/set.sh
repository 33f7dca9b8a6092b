#!/usr/bin/env bash
# The last job of samples/slurm/build.sh: names all parts as one cache, which reads no features.
#SBATCH --job-name=xtts-set
#SBATCH --time=01:00:00
#SBATCH --open-mode=append
set -euo pipefail
out=$1
shift
xtts-precompute set "$out" "$out"/parts/* "$@"
