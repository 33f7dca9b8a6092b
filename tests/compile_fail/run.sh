#!/usr/bin/env bash
# run.sh FILE COMPILER ...: the file compiles; with MISTAKES, just the lines marked MISTAKE do not.
set -euo pipefail
file=$1
shift
compile=("$@" -fsyntax-only -Werror=unused-result "$file")
"${compile[@]}"
if output=$("${compile[@]}" -DMISTAKES 2>&1); then
  echo "$file compiles with MISTAKES"
  exit 1
fi
errors=$(sed -n "s|^$file:\([0-9]*\):.* error: .*|\1|p" <<<"$output" | sort -nu)
marked=$(sed -n '/\/\/ MISTAKE/=' "$file")
diff <(echo "$marked") <(echo "$errors") || { printf '%s\n' "$output"; exit 1; }
