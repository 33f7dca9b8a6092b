#!/usr/bin/env bash
# tests/python/in_place.sh [pytest arguments]: these tests on the package as it lies in src/python, without making a wheel. The compiled modules are
# built in build/check, where all but their own files may be compiled already. Left out: the frameworks' tests and those of the installed package.
# XTTS_PYTHON: another Python than python3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cli/setup.sh"
cd "$project"
environment=$project/build/python-in-place-env
package=$project/build/python-in-place/xtts_precompute

if ! cmp -s tests/python/requirements.txt "$environment/requirements.txt"; then
  rm -rf "$environment"
  "${XTTS_PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement tests/python/requirements.txt numpy
  cp tests/python/requirements.txt "$environment/requirements.txt"
fi
say "== python: building the compiled modules"
cmake --preset check -DXTTS_BUILD_PYTHON=ON -DPython_EXECUTABLE="$environment/bin/python" >build/python-in-place.log
build check --target _core _builder xtts-precompute xtts-decode

# As a wheel has them: the files of Python, the modules and the program in one folder.
rm -rf "$package"
mkdir -p "$package"
ln -s "$project"/src/python/xtts_precompute/* "$project"/build/check/src/python/_*.so \
  "$project"/build/check/src/api/reader/libxtts_reader.so.0 "$project"/build/check/lib/libxtts_builder.so.0 \
  "$project/build/check/cli/xtts-precompute" "$project/build/check/libexec/xtts-precompute/xtts-decode" "$package"
say "== python: testing in place"
PYTHONPATH=$(dirname "$package") "$environment/bin/python" -m pytest -p no:cacheprovider tests/python --ignore tests/python/test_package.py "$@"
