#!/usr/bin/env bash
# tests/lint/format.sh [--fix]: runs clang-format on every C and C++ file, by .clang-format.
# Any difference is an error; --fix rewrites the files, and those of Python by ruff.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
how=(--dry-run --Werror)
[ "${1:-}" != --fix ] || how=(-i)
find cli formats include samples src tests -name '*.[ch]' -print0 -o -name '*.[ch]pp' -print0 |
  xargs -0 -n 64 -P "$(nproc)" "$environment/bin/clang-format" "${how[@]}"
[ "${1:-}" != --fix ] ||
  "$environment/bin/ruff" format --quiet --cache-dir build/ruff-cache src tests docs
