#!/usr/bin/env bash
# tests/parity/environment.sh [FOLDER]: makes a Python environment with the reference
# implementations of the recipes. FOLDER is build/parity-env by default; it takes 7 GB, because
# PyPI's torch brings CUDA along. The script names each implementation that does not install.
# compare.py then skips its recipes and says so. Needs Python 3.11 or later.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=${1:-$here/../../build/parity-env}
[[ -x $folder/bin/pip ]] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --upgrade pip

missing=()
# install FILE [pip's arguments]: installs the requirements of FILE, one at a time where they do not
# install together.
install() {
  local file=$1
  shift
  "$folder/bin/pip" install --quiet "$@" --requirement "$file" && return
  grep --invert-match '^#' "$file" | while read -r requirement; do
    "$folder/bin/pip" install --quiet "$@" "$requirement" || echo "$requirement"
  done >"$folder/missing"
  mapfile -t -O "${#missing[@]}" missing <"$folder/missing"
}
install "$here/requirements.txt"
install "$here/requirements-bare.txt" --no-deps

for requirement in "${missing[@]}"; do echo "not installed: $requirement" >&2; done
echo "run: $folder/bin/python $here/compare.py ..." >&2
