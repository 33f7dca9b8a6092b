#!/usr/bin/env bash
# tests/lint/shell.sh: runs shellcheck on every script, by the rules of .shellcheckrc.
# Any finding is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
# .ci/run has no .sh ending. find lists the scripts, because outside a clone git cannot.
{
  find . \( -name build -o -name .git \) -prune -o -name '*.sh' -print0
  printf '%s\0' .ci/run
} | xargs -0 "$environment/bin/shellcheck"
