# Sourced behind cli/setup.sh by what runs tests. A developer's machine has tools that a new user's has not (make, say),
# and a test that starts one of them passes there alone. So tests find only the commands of the packages that setup.sh
# names, of what these depend on, and of Debian's base system.

# shellcheck disable=SC2154  # project and the lists are of setup.sh

# with_packages_only COMMAND...: runs it with such a PATH. Without dpkg and apt: with the PATH as it is.
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

# A link in FOLDER for each command in the system's folders whose file belongs to one of the packages. Alternatives
# (c++, awk) are links themselves: where they end decides.
link_package_commands() {
  local folder=$1 names
  names=$({
    dpkg-query -W -f='${Essential} ${Priority} ${Package}\n' | awk '$1 == "yes" || $2 == "required" { print $NF }'
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
      --no-enhances "${build_packages[@]}" "${test_packages[@]}" "${optional_test_packages[@]}" | grep -oE '^[a-z0-9][a-z0-9.+-]*'
  } | sort -u)
  rm -rf "$folder"
  mkdir -p "$folder"
  # shellcheck disable=SC2086  # names of packages are words
  # Alternatives that are not installed are among the names.
  { dpkg-query -L $names 2>/dev/null || true; } | grep -E '/(s?bin|games|lib|libexec)/' | xargs -d '\n' realpath -qm | sort -u >"$folder/.owned"
  find /usr/bin /usr/sbin -maxdepth 1 -xtype f >"$folder/.commands"
  # shellcheck disable=SC2094  # both read it
  xargs -d '\n' realpath -m <"$folder/.commands" | paste - "$folder/.commands" |
    awk -F '\t' 'NR == FNR { owned[$1]; next } $1 in owned { print $2 }' "$folder/.owned" - |
    xargs -d '\n' ln -s -f -t "$folder"
  rm "$folder/.owned" "$folder/.commands"
}
