#!/usr/bin/env bash
# tests/python/frameworks.sh [install | pytest arguments]: tests the integrations with the real
# PyTorch, TensorFlow, JAX and Ray, in their own environment (build/frameworks-env, 2 GB). PyTorch is
# Debian's build for CPUs, because PyPI's is for CUDA and has gigabytes; the others are from PyPI.
# The script names what cannot be installed, and its tests say that they skip. Needs the package as
# tests/python/run.sh has built it (build/python-dist).
# install: makes the environment, and tests nothing.
# XTTS_FRAMEWORKS_PYTHON: another Python that has the package, pytest and newer frameworks. The
# script installs nothing there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cli/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../package_path.sh"
cd "$project"
environment=build/frameworks-env
log=$project/build/frameworks-env.log
# Each group runs in its own process: PyTorch's workers should not be forked after JAX and
# TensorFlow have threads. As many run at once as there are processors, the longest first.
groups=(
  "tensorflow tensorflow_optimize myxtts_tensorflow myxtts_install myxtts_launcher myxtts_trainer"
  tune
  frameworks_probe
  "torch torch_datasets torch_trainers myxtts_torch profile"
  docs_frameworks
  ray
  "every_reader integrations arrays myxtts myxtts_modes myxtts_splits myxtts_tokenizer"
  jax
)
# They measure, so nothing runs beside them.
measuring="profile_command profile_own trace_frameworks"

state() {
  /usr/bin/python3 -c 'import sys; print(sys.version)'
  dpkg-query -W -f='${Version}\n' python3-torch 2>/dev/null || true
  sha256sum tests/python/requirements-frameworks.txt tests/python/requirements-torch.txt
  cat build/python-env.state
}

# If one framework cannot be installed, the others still are.
install_frameworks() {
  rm -rf "$environment"
  # Debian's PyTorch is for the system's Python.
  /usr/bin/python3 -m venv --system-site-packages "$environment"
  if ! "$environment/bin/pip" install --requirement tests/python/requirements-frameworks.txt; then
    "$environment/bin/pip" install pytest
    grep -E '^(jax|librosa|ray|tensorflow)' tests/python/requirements-frameworks.txt | while read -r one; do
      "$environment/bin/pip" install "$one" || echo "NOT INSTALLED: $one"
    done
  fi
  # The version is pinned to the PyTorch that is there, because PyPI's has gigabytes.
  local torch
  if torch=$("$environment/bin/python" -c 'import torch, importlib.metadata as all
print(all.version("torch"))'); then
    "$environment/bin/pip" install "torch==$torch" \
      --requirement tests/python/requirements-torch.txt ||
      echo "NOT INSTALLED: Lightning, Accelerate and transformers for PyTorch $torch"
  fi
  # The wheel is for the Python that it was built with, which is mostly this one.
  "$environment/bin/pip" install build/python-dist/*.whl ||
    "$environment/bin/pip" install build/python-dist/*.tar.gz
}

python=${XTTS_FRAMEWORKS_PYTHON:-$environment/bin/python}
if [ -z "${XTTS_FRAMEWORKS_PYTHON:-}" ]; then
  install_missing "${optional_test_packages[@]}" ||
    say "PyTorch could not be installed: its tests will say that they skip."
  state >build/frameworks-env.state
  if ! cmp -s build/frameworks-env.state "$environment/state"; then
    say "== python: installing TensorFlow and JAX"
    install="$(declare -f install_frameworks); environment=$environment; install_frameworks"
    if ! bash -euo pipefail -c "$install" >"$log" 2>&1; then
      tail -40 "$log" >&2
      say "The frameworks' environment could not be made; the whole log: $log"
      exit 1
    fi
    grep '^NOT INSTALLED' "$log" >&2 || cp build/frameworks-env.state "$environment/state"
  fi
  # What is installed here is for CPUs. Where there is a GPU, JAX would warn, which is a failure in
  # tests of what a program prints.
  export JAX_PLATFORMS=cpu
fi
[ "${1:-}" != install ] || exit 0
say "== python: testing with frameworks"

# run_group "NAME ..." [pytest arguments]
run_group() {
  local files=() name result=0
  for name in $1; do files+=("tests/python/test_$name.py"); done
  TF_CPP_MIN_LOG_LEVEL=2 "$python" -m pytest -p no:cacheprovider -rs "${files[@]}" "${@:2}" ||
    result=$?
  # 5: the arguments chose none of these tests.
  [ "$result" -eq 0 ] || [ "$result" -eq 5 ]
}

# Prints what a group prints when the group ends, so that no two mix.
run_group_at_once() {
  local output result=0
  output=$(run_group "$@" 2>&1) || result=$?
  printf '%s\n' "$output"
  return "$result"
}

failed=0
export python
export -f run_group run_group_at_once
# xargs, because a shell's own background jobs ignore Ctrl-C.
printf '%s\0' "${groups[@]}" | with_packages_only \
  xargs -0 -P "$(nproc)" -I '{}' bash -c 'run_group_at_once "$@"' bash '{}' "$@" || failed=1
with_packages_only run_group "$measuring" "$@" || failed=1
[ "$failed" -eq 0 ]
