#!/usr/bin/env python3
"""read_hdf5 CACHE...: opens the shards of HDF5 caches with plain h5py, as a user would who knows
only h5py and the attributes. Compares every record with the output of `xtts-precompute show --npy`.
Prints a line a dataset. Exit code 77 (skipped) where h5py is missing."""

import glob
import json
import os
import subprocess
import sys

SYSTEM_PYTHON = "/usr/bin/python3"

try:
    import h5py
    import numpy
except ImportError as error:
    # The distribution's h5py belongs to the system's Python, which need not be the first in PATH.
    if os.path.exists(SYSTEM_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    print(f"skipped: {error}; Debian's package is python3-h5py", file=sys.stderr)
    sys.exit(77)


def ask(*arguments):
    return subprocess.run(["xtts-precompute", *arguments], check=True, stdout=subprocess.PIPE).stdout


def shown(cache, clip):
    ask("show", cache, clip, "--npy", "record.npy", "--quiet")
    return numpy.load("record.npy")


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def record(shard, column, i):
    """Gives record i with its true length, by what the attributes say."""
    data, length = shard[column], int(shard["lengths"][i])
    if text(shard.attrs["layout"]) == "padded":
        rows = data[i, :length]
    else:
        shape = [length] + [int(n) for n in shard.attrs["shape"][1:]]
        begin = int(shard["offsets"][i])
        rows = data[begin : begin + int(numpy.prod(shape))].reshape(shape)
    if "encoding" in data.attrs:
        assert text(data.attrs["encoding"]).startswith("bfloat16"), data.attrs["encoding"]
        rows = (rows.astype(numpy.uint32) << 16).view(numpy.float32)
    return rows


def main():
    for cache in sys.argv[1:]:
        lengths = {clip["id"]: clip["mel_len"] for clip in json.loads(ask("ls", cache, "--json"))["clips"]}
        found = []
        for path in sorted(glob.glob(f"{cache}/shards/*/*.h5")):
            with h5py.File(path, "r") as shard:
                column = text(shard.attrs["column"])
                assert text(shard.attrs["format"]) == "xtts-cache" and shard.attrs["format_version"] == 1
                assert all("about" in shard[name].attrs for name in shard)
                print(cache, column, text(shard.attrs["layout"]), shard[column].dtype, " ".join(sorted(shard)))
                ids = [value.decode() for value in shard["ids"][:]]
                assert shard["headers"].shape[1] == 4080 and bytes(shard["headers"][0, :8]) == b"XTTSBLK1"
                assert bytes(shard["facts"][:8]) == b"XTTSFCT1"
                if column != "mel":
                    continue
                for i, clip in enumerate(ids):
                    ours, theirs = shown(cache, clip), record(shard, column, i)
                    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (ours.dtype, theirs.dtype)
                    assert ours.tobytes() == theirs.tobytes(), f"{clip} differs"
                    assert lengths[clip] == len(theirs)
                found += ids
        assert sorted(found) == sorted(lengths) and found, (found, lengths)
        print(cache, len(found), "records are those that show writes")


main()
