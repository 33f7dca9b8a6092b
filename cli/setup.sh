#!/usr/bin/env bash
# Installs what is missing and builds; shared by cli/run.sh and tests/run.sh. Sourced, not run.
# Debian 12 and later, Ubuntu 22.04 and later. Needs root or sudo only where a package is missing.

# shellcheck disable=SC2034  # the scripts that source this use the lists

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(g++ cmake ninja-build pkg-config
  libavformat-dev libavcodec-dev libavutil-dev libsoxr-dev libfftw3-dev liblmdb-dev libhdf5-dev
  libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev zlib1g-dev
  python3 python3-ruamel.yaml python3-jinja2 librsvg2-bin)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev mold python3-dev python3-venv python3-h5py
  espeak-ng ffmpeg bindfs libsndfile1-dev sndfile-programs
  vorbis-tools opus-tools lame flac sox wavpack)
optional_test_packages=(python3-torch)
clang_packages=(clang-16 libclang-rt-16-dev)

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_missing() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "This script installs packages on Debian and Ubuntu. Elsewhere, install the counterparts of: $*"
    say "then: cmake --preset release && cmake --build --preset release"
    return 1
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "Missing: ${missing[*]}"
      say "As root: apt-get install ${missing[*]}"
      return 1
    fi
    as_root=(sudo)
  fi
  say "Installing: ${missing[*]}"
  local log="$project/build/install.log"
  mkdir -p "$project/build"
  if ! { "${as_root[@]}" apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq \
      --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    say "The installation failed; the whole log: $log"
    return 1
  fi
}

# build PRESET [cmake --build arguments]: quiet unless it fails; on a terminal it counts the steps.
build() {
  local preset=$1 log="$project/build/$1.log"
  shift
  mkdir -p "$project/build"
  if ! { (cd "$project" && cmake --preset "$preset") &&
    cmake --build "$project/build/$preset" "$@"; } 2>&1 | tee "$log" | show_steps; then
    tail -40 "$log" >&2
    say "The build failed; the whole log: $log"
    return 1
  fi
}

# Shows Ninja's "[12/345]", each over the one before.
show_steps() {
  local step
  if [ ! -t 2 ]; then
    cat >/dev/null
    return
  fi
  while IFS= read -r step; do
    [[ $step == \[*/*\]* ]] && printf '\r%s] ' "${step%%]*}" >&2
  done
  printf '\r\033[K' >&2
}
