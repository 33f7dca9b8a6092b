#!/usr/bin/env bash
# cli/run.sh DATA CACHE [options]: installs what is missing, builds, and runs xtts-precompute with these arguments.
# Run again, it starts at once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

binary="$project/build/release/cli/xtts-precompute"
# What the binary was built from: another checkout builds anew, an unchanged one does not even ask cmake.
sources_stamp() {
  (cd "$project" && find CMakeLists.txt CMakePresets.json cmake cli configs formats include src -type f -printf '%p %s %T@\n' | sort) | cksum
}

stamp="$project/build/release/.sources"
if [ ! -x "$binary" ] || [ "$(sources_stamp)" != "$(cat "$stamp" 2>/dev/null)" ]; then
  install_missing "${build_packages[@]}"
  say "Building (a few minutes, once) ..."
  build release
  sources_stamp >"$stamp"
fi
exec "$binary" "$@"
