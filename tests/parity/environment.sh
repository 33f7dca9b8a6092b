#!/usr/bin/env bash
# tests/parity/environment.sh [FOLDER]: a Python environment with the recipes' reference implementations (build/parity-env unless told
# otherwise; 7 GB, as PyPI's torch brings CUDA along). One that does not install is said aloud and left out: compare.py then skips its
# recipes, aloud too. Needs Python 3.11 or later.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=${1:-$here/../../build/parity-env}
[[ -x $folder/bin/pip ]] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --upgrade pip

missing=()
install() {  # the requirements of a file one at a time, should they not go in together
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
