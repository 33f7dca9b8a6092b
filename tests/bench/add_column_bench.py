"""Times add_column() with a function that only reads `.pcm`, beside the build of the same clips.

    python tests/bench/add_column_bench.py DATA...

For each DATA it builds a cache in a temporary folder, then adds a column in three ways: a clip at a
time, 32 at a time, and in two processes (their start takes about a second of it). The three columns
are equal.
"""

import sys
import tempfile
import time

import numpy as np
import xtts_precompute as xp

WAYS = {"one": {}, "batch=32": {"batch": 32}, "workers=2": {"workers": 2}}


def level(clip):
    return np.float32([np.abs(clip.pcm).mean()])


def levels(clips):
    return [level(clip) for clip in clips]


def seconds(call):
    began = time.perf_counter()
    made = call()
    return time.perf_counter() - began, made


def main():
    for data in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/cache"
            built_s, _ = seconds(lambda data=data, path=path: xp.build(data, path, progress=False))
            cache, times = xp.open(path), []
            for number, (way, options) in enumerate(WAYS.items()):
                fn, name = (levels if "batch" in options else level), f"level_{number}"
                added_s, cache = seconds(
                    lambda cache=cache, fn=fn, name=name, options=options: cache.add_column(
                        name, fn, axis="fixed", progress=False, **options
                    )
                )
                assert all(clip[name] == clip["level_0"] for clip in cache)
                times.append(f"{way} {added_s:.2f} s")
            print(f"{data}: {len(cache)} clips, build {built_s:.2f} s, add_column {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
