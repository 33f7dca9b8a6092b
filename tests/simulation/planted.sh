#!/bin/bash
# Plants known faults again, one at a time, and expects that the simulation finds each:
#
#     tests/simulation/planted.sh [WORD...]      # BUILD=build/check SEEDS=1500
#
# planted/WORD.patch takes a mend away, and planted/faults.txt names the invariant that must then
# break. A fault is found by a seed that breaks it and that holds without the patch.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/simulation
build=${BUILD:-build/check}
seeds=${SEEDS:-1500}
clean=$(mktemp -d)/simulation
planted=""

build_simulation() { cmake --build "$build" --target simulation > /dev/null; }
take_back() {
  if [[ -n "$planted" ]]; then git apply -R "$planted"; fi
  planted=""
}
trap 'take_back; rm -rf "${clean%/*}"' EXIT

# Prints the first seed that breaks the invariant, but not without the planted fault.
find_seed() {
  local invariant=$1 seed=0 said
  while ((seed < seeds)); do
    said=$("$build/tests/simulation/simulation" --start $((seed + 1)) --seeds $((seeds - seed)) \
      --no-shrink || true)
    [[ "$said" =~ ^seed\ ([0-9]+)\ breaks\ \'([a-z]+)\' ]] || return 0
    seed=${BASH_REMATCH[1]}
    if [[ ${BASH_REMATCH[2]} == "$invariant" ]] && "$clean" --seed "$seed" --no-shrink > /dev/null
    then
      echo "$seed"
      return 0
    fi
  done
}

build_simulation
cp "$build/tests/simulation/simulation" "$clean"
missed=0
while read -r word invariant; do
  [[ $# -eq 0 || " $* " == *" $word "* ]] || continue
  git apply "$here/planted/$word.patch"
  planted=$here/planted/$word.patch
  build_simulation
  seed=$(find_seed "$invariant")
  if [[ -n "$seed" ]]; then
    echo "$word: seed $seed breaks '$invariant'"
  else
    echo "$word: NOT FOUND as '$invariant' in $seeds seeds"
    missed=$((missed + 1))
  fi
  take_back
done < <(grep -v '^#' "$here/planted/faults.txt")
build_simulation
exit $((missed > 0))
