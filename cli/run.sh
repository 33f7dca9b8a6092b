#!/usr/bin/env bash
# cli/run.sh DATA CACHE [options]: installs what is missing, builds, and runs xtts-precompute with
# these arguments. A second run starts at once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

binary="$project/build/release/cli/xtts-precompute"
# Prints what the binary is built from. Another checkout builds anew; an unchanged one does not
# even ask cmake.
sources_stamp() {
  local parts=(CMakeLists.txt CMakePresets.json cmake cli configs formats include src)
  (cd "$project" && find "${parts[@]}" -type f -printf '%p %s %T@\n' | sort) | cksum
}

# Reports a missing folder of audio before minutes of building.
if [[ ${1:-} == */* && $1 != -* && ! -e $1 ]]; then
  say "$1 is not there: the first argument is the folder with your audio" \
    "(samples/make_corpus.sh $1 makes a small one to try)"
  exit 2
fi

stamp="$project/build/release/.sources"
if [ ! -x "$binary" ] || [ "$(sources_stamp)" != "$(cat "$stamp" 2>/dev/null)" ]; then
  install_missing "${build_packages[@]}"
  say "Building (a few minutes, once) ..."
  build release
  sources_stamp >"$stamp"
  say "Built build/release/cli/xtts-precompute. Where xtts-precompute is told to be run," \
    "./cli/run.sh does as well: ./cli/run.sh verify CACHE"
fi
exec "$binary" "$@"
