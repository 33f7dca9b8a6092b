#!/usr/bin/env bash
# tests/python/in_place.sh [FILE ...] [pytest arguments]: tests the package as it lies in
# src/python, without making a wheel. The script builds the compiled modules in build/check, where
# most of their objects may exist already. The tests of the installed package are left out. Those of
# a framework skip themselves where the framework is not installed.
# XTTS_PYTHON: another Python than python3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cli/setup.sh"
cd "$project"
environment=$project/build/python-in-place-env
package=$project/build/python-in-place/xtts_precompute

if ! cmp -s tests/python/requirements.txt "$environment/requirements.txt"; then
  rm -rf "$environment"
  "${XTTS_PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check \
    --requirement tests/python/requirements.txt numpy
  cp tests/python/requirements.txt "$environment/requirements.txt"
fi
say "== python: building the compiled modules"
cmake --preset check -DXTTS_BUILD_PYTHON=ON -DPython_EXECUTABLE="$environment/bin/python" \
  >build/python-in-place.log
build check --target _core _builder xtts-precompute xtts-decode

# One folder holds the Python files, the modules and the program, as in a wheel.
rm -rf "$package"
mkdir -p "$package"
ln -sfn "$project/src/python/xtts_advise" "$(dirname "$package")/xtts_advise"
built=$project/build/check
ln -s "$project"/src/python/xtts_precompute/* "$built"/src/python/_*.so \
  "$built/src/api/reader/libxtts_reader.so.0" "$built/lib/libxtts_builder.so.0" \
  "$built/cli/xtts-precompute" "$built/libexec/xtts-precompute/xtts-decode" "$package"
say "== python: testing in place"
files=(tests/python)
for word in "$@"; do
  [ ! -e "${word%%::*}" ] || files=()
done
PYTHONPATH=$(dirname "$package") "$environment/bin/python" -m pytest -p no:cacheprovider \
  -n "$(nproc)" --dist loadfile --ignore tests/python/test_package.py "${files[@]}" "$@"
