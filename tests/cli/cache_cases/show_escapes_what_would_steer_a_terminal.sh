xtts-precompute show cache LJ001-0004 | grep -c -P "[\x00-\x09\x0b-\x1f\x7f]"
xtts-precompute show cache LJ001-0004 | grep -o "bell .x07 and escape .x1b"
