# Nothing on PATH makes a PNG: the SVG is beside it, and a device gets nothing.
program=$(command -v xtts-precompute)
for picture in mel.png mel /dev/null; do
  PATH=/nothing XTTS_PYTHON=/usr/bin/python3 "$program" show cache LJ001-0001 --png "$picture" --quiet && exit 1
  echo "exit $?" >&2
done
xtts-precompute show cache LJ001-0001 --svg named.svg --quiet > /dev/null
cmp mel.svg named.svg && ls mel*
