# The scripts that run tests source this after cli/setup.sh. A developer's machine has tools that a
# new user's machine lacks, such as make. A test that starts one of them would pass only there. So
# tests find only the commands of three sets of packages: those that setup.sh names, those that
# these depend on, and Debian's base system.

# shellcheck disable=SC2154  # project and the lists come from setup.sh

# with_packages_only COMMAND...: runs COMMAND with a PATH of these commands. Without dpkg and apt,
# PATH stays as it is.
with_packages_only() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-cache >/dev/null; then
    "$@"
    return
  fi
  if [ -z "${package_path:-}" ]; then
    package_path=$project/build/package-path
    link_package_commands "$package_path"
  fi
  PATH=$package_path "$@"
}

# link_package_commands FOLDER: makes a link in FOLDER for each command in the system's folders
# whose file belongs to one of the packages. Alternatives (c++, awk) are links: the file where they
# end decides.
link_package_commands() {
  local folder=$1 names
  names=$({
    dpkg-query -W -f='${Essential} ${Priority} ${Package}\n' |
      awk '$1 == "yes" || $2 == "required" { print $NF }'
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts \
      --no-breaks --no-replaces --no-enhances \
      "${build_packages[@]}" "${test_packages[@]}" "${optional_test_packages[@]}" |
      grep -oE '^[a-z0-9][a-z0-9.+-]*'
  } | sort -u)
  rm -rf "$folder"
  mkdir -p "$folder"
  # shellcheck disable=SC2086  # names of packages are words
  # dpkg-query fails for names of packages that are not installed: apt-cache lists alternatives too.
  { dpkg-query -L $names 2>/dev/null || true; } | grep -E '/(s?bin|games|lib|libexec)/' |
    xargs -d '\n' realpath -qm | sort -u >"$folder/.owned"
  find /usr/bin /usr/sbin -maxdepth 1 -xtype f >"$folder/.commands"
  # shellcheck disable=SC2094  # both commands only read the file
  xargs -d '\n' realpath -m <"$folder/.commands" | paste - "$folder/.commands" |
    awk -F '\t' 'NR == FNR { owned[$1]; next } $1 in owned { print $2 }' "$folder/.owned" - |
    xargs -d '\n' ln -s -f -t "$folder"
  rm "$folder/.owned" "$folder/.commands"
}
