#!/usr/bin/env bash
# make_fixture.sh PROGRAM FOLDER: makes FOLDER/data, and FOLDER/cache with the program under test.
# One clip of five is no sound.
set -euo pipefail
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
python3 "$(dirname "${BASH_SOURCE[0]}")/make_corpus.py" "$folder/data"
"$program" "$folder/data" "$folder/cache" --max-rejects 1 --quiet
