# The sources were moved after the build. A command that needs them says where they were, and finds
# them with --data.
here() { sed "s|$PWD|HERE|g; s/[0-9a-f]\{32\}/DIGEST/; s/, [^,]* checked in .*//"; }
cp -r data before
xtts-precompute before mine --max-rejects 1 --quiet
mv before after
xtts-precompute show mine LJ001-0001 --wav heard.wav 2>&1 >/dev/null | here
xtts-precompute show mine LJ001-0001 --wav heard.wav --data after >/dev/null 2>&1 && echo heard
xtts-precompute verify mine --level deep 2>&1 | here
xtts-precompute verify mine --level deep --data after --quiet && echo compared
xtts-precompute build before mine 2>&1 | here
rm mine/shards/mel/*
xtts-precompute verify mine --repair 2>/dev/null | tail -3 | here
xtts-precompute verify mine --repair --data after | tail -1 | here
