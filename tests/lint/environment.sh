# The scripts beside it source this. It goes to the project's folder and makes build/lint-env, which
# holds the tools in the versions of requirements.txt. Its first call needs pip's index.
# XTTS_PYTHON names another Python than python3, 3.11 or later.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
environment=build/lint-env
requirements=tests/lint/requirements.txt

if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  rm -rf "$environment"
  "${XTTS_PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
