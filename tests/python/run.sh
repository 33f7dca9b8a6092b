#!/usr/bin/env bash
# tests/python/run.sh [pytest arguments]: makes the package's sdist, installs it as a user's pip
# does into its own environment (build/python-env), and runs these tests. The tests with PyTorch,
# TensorFlow and JAX follow (frameworks.sh). An unchanged package is not built again.
# XTTS_PYTHON: another Python than python3.
# Needs tests/run.sh's packages and the program (build/check/cli/xtts-precompute). pip needs its
# index.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cli/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../package_path.sh"
cd "$project"
python=${XTTS_PYTHON:-python3}
environment=build/python-env
log=$project/build/python-env.log

# Prints the state of all that the installed package is made of.
state() {
  "$python" -c 'import sys; print(sys.version, sys.executable)'
  sha256sum pyproject.toml CMakeLists.txt LICENSE README.md tests/python/requirements.txt
  find cli cmake configs include formats src -type f \( -name '*.[ch]pp' -o -name '*.h' \
    -o -name '*.txt' -o -name '*.cmake' -o -name '*.in' -o -name '*.map' -o -name '*.py' \
    -o -name '*.cu' -o -name '*.ptx' -o -name '*.tsv' -o -name '*.inc' \
    -o -name '*.pyi' -o -name '*.yaml' -o -name '*.j2' -o -name '*.css' -o -name py.typed \) -print0 | sort -z | xargs -0 sha256sum
}

install_package() {
  rm -rf "$environment" build/python-dist
  "$python" -m venv "$environment"
  "$environment/bin/pip" install --quiet --requirement tests/python/requirements.txt
  "$environment/bin/python" -m build --sdist --outdir build/python-dist .
  "$environment/bin/pip" wheel --verbose --no-deps --wheel-dir build/python-dist \
    build/python-dist/*.tar.gz
  "$environment/bin/pip" install build/python-dist/*.whl
}

mkdir -p build
state >build/python-env.state
if ! cmp -s build/python-env.state "$environment/state"; then
  say "== python: building and installing the package"
  # A separate shell, because bash would not stop at the first failure within a condition.
  install="$(declare -f install_package); environment=$environment python=$python; install_package"
  if ! bash -euo pipefail -c "$install" >"$log" 2>&1; then
    tail -40 "$log" >&2
    say "The Python package could not be built or installed; the whole log: $log"
    exit 1
  fi
  cp build/python-env.state "$environment/state"
fi
# The frameworks are installed meanwhile, from the network. frameworks.sh below tries again what
# failed here, and reports it.
tests/python/frameworks.sh install >/dev/null 2>&1 &
trap 'wait' EXIT
say "== python: testing"
# A file's tests stay together, because they share caches. The probe's tests pretend most
# frameworks, so frameworks.sh runs them all.
with_packages_only "$environment/bin/python" -m pytest -rs -p no:cacheprovider -n "$(nproc)" \
  --dist loadfile --ignore tests/python/test_frameworks_probe.py tests/python "$@"
wait || true
tests/python/frameworks.sh "$@"
