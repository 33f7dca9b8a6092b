#!/usr/bin/env bash
# tests/lint/python.sh: runs ruff (rules and format) on every Python file and mypy on the package,
# by pyproject.toml. Any finding is an error. tests/lint/format.sh --fix mends the format.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
status=0
"$environment/bin/ruff" check --quiet --cache-dir build/ruff-cache . || status=1
"$environment/bin/ruff" format --check --quiet --cache-dir build/ruff-cache src tests docs || status=1
"$environment/bin/mypy" --no-error-summary --cache-dir build/mypy-cache || status=1
exit "$status"
