#!/usr/bin/env bash
# every_clip.sh PROGRAM [COUNT]: runs every_clip.py in its own folder. 20,000 clips take minutes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/every_clip.py" "$1" "$folder" "${2:-400}"
