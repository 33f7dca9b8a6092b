#!/bin/bash
# Plants known faults again, one at a time, and expects that the simulation finds each:
#
#     tests/simulation/planted.sh [WORD...]      # BUILD=build/check SEEDS=1500
#
# A word of planted/faults.txt whose fault is mended has a patch, planted/WORD.patch, which takes
# the mend away. The script applies it, builds, runs seeds, and takes it back. A word of
# known_failures.txt needs none: its fault is in the code.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/simulation
build=${BUILD:-build/check}
seeds=${SEEDS:-1500}
planted=""

take_back() {
  if [[ -n "$planted" ]]; then git apply -R "$planted"; fi
  planted=""
}
trap take_back EXIT

# All words of known_failures.txt but one.
others() { grep -vx "$1" "$here/known_failures.txt" | paste -sd, - || true; }

missed=0
while read -r word invariant; do
  [[ $# -eq 0 || " $* " == *" $word "* ]] || continue
  patch=$here/planted/$word.patch
  if [[ -f "$patch" ]]; then
    git apply "$patch"
    planted=$patch
    cmake --build "$build" --target simulation > /dev/null
  elif ! grep -qx "$word" "$here/known_failures.txt"; then
    echo "$word: is mended, and has no patch $patch yet"
    continue
  fi
  said=$("$build/tests/simulation/simulation" --seeds "$seeds" --no-shrink \
    --leave-out "$(others "$word")" || true)
  found=$(grep -o "^seed [0-9]* breaks '$invariant'" <<< "$said" || true)
  if [[ -n "$found" ]]; then
    echo "$word: $found"
  else
    echo "$word: NOT FOUND as '$invariant': $(tail -1 <<< "$said")"
    missed=$((missed + 1))
  fi
  if [[ -n "$planted" ]]; then
    take_back
    cmake --build "$build" --target simulation > /dev/null
  fi
done < <(grep -v '^#' "$here/planted/faults.txt")
exit $((missed > 0))
