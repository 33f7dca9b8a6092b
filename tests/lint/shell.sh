#!/usr/bin/env bash
# tests/lint/shell.sh: shellcheck on every script, by the rules of .shellcheckrc. Any finding is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
# .ci/run has no ending. Outside of a clone there is no git to ask.
{ find . \( -name build -o -name .git \) -prune -o -name '*.sh' -print0; printf '%s\0' .ci/run; } | xargs -0 "$environment/bin/shellcheck"
