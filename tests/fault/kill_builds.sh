#!/usr/bin/env bash
# kill_builds.sh [COUNT] [SEED]: kills COUNT (500) real builds with SIGKILL at random moments. It
# lets each build go on and compares the finished cache byte for byte with an undisturbed one;
# kill_builds.py says how. XTTS_PROGRAM names the program; without it, the script
# takes build/release or build/dev.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
program=${XTTS_PROGRAM:-}
for candidate in "$here"/../../build/{release,dev}/cli/xtts-precompute; do
  if [ -z "$program" ] && [ -x "$candidate" ]; then program=$candidate; fi
done
[ -n "$program" ] || { echo "build the program first, or name it by XTTS_PROGRAM"; exit 2; }
exec python3 "$here/kill_builds.py" "$program" "${1:-500}" "${2:-$RANDOM}"
