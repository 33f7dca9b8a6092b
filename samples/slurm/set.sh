#!/usr/bin/env bash
# The last job of samples/slurm/build.sh: makes one cache of all parts. It links files and reads no features.
#SBATCH --job-name=xtts-set
#SBATCH --time=08:00:00
#SBATCH --open-mode=append
set -euo pipefail
xtts-precompute merge "$1/cache" "$1"/parts/*
