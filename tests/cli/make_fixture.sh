#!/usr/bin/env bash
# make_fixture.sh PROGRAM FOLDER: FOLDER/data and FOLDER/cache, built by the program under test. One clip of five is no sound.
set -euo pipefail
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
python3 "$(dirname "${BASH_SOURCE[0]}")/make_corpus.py" "$folder/data"
"$program" "$folder/data" "$folder/cache" --max-rejects 1 --quiet
