# What needs a decoder says what is missing and what to do; what needs none works.
cp "$(realpath "$(command -v xtts-precompute)")" .
./xtts-precompute --version >/dev/null
./xtts-precompute formats && exit 1
ln -s /bin/false xtts-decode
./xtts-precompute formats
