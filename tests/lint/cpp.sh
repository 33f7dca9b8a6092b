#!/usr/bin/env bash
# tests/lint/cpp.sh [FOLDER ...]: runs clang-tidy on the product's C++, by the rules of
# .clang-tidy. Any finding is an error.
#   FOLDER   a folder of the product, such as src/loader; without one, all folders are checked,
#            which takes about a minute on two cores
# Needs build/check configured and built, as tests/run.sh leaves it.
# clang-tidy reads each group of files there at once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
commands=build/check
if [ ! -f "$commands/compile_commands.json" ]; then
  echo "build/check is missing: cmake --preset check && cmake --build --preset check" >&2
  exit 1
fi
folders=("$@")
[ $# -gt 0 ] || folders=(cli formats src)
# Lists the file groups of these folders and the files that are compiled by themselves. clang-tidy
# reads headers that Clang has compiled as text: their versions differ.
mkdir -p build/tidy
"$environment/bin/python" - "$commands/compile_commands.json" "${folders[@]}" <<'PYTHON' |
import json, os, re, sys
entries = json.load(open(sys.argv[1]))
for entry in entries:
    entry["command"] = re.sub(r"-Xclang -include-pch -Xclang \S+", "", entry["command"])
json.dump(entries, open("build/tidy/compile_commands.json", "w"))
for entry in entries:
    path = os.path.relpath(entry["file"]).removeprefix("build/check/")
    folders = tuple(folder.rstrip("/") + "/" for folder in sys.argv[2:])
    if path.startswith(folders) and "cmake_pch" not in path:
        print(entry["file"], end="\0")
PYTHON
  xargs -0 -n 1 -P "$(nproc)" "$environment/bin/clang-tidy" --quiet -p build/tidy
