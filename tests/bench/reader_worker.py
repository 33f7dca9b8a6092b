#!/usr/bin/env python3
"""A peer of readers_vs_peers.py in a process of its own.

    reader_worker.py PEER FOLDER

PEER is a name of reader_table.py. The process stores the samples, if this peer has not yet. Then it
answers each line of standard input with a line of JSON: `check`, or the number of an epoch to read.
"""

import json
import os
import pathlib
import sys
import time

import numpy as np
import reader_by_hand
import reader_loaders
import reader_table
from reader_by_hand import BATCH, CLIPS, FRAMES, MELS, TOKENS, sources


def touch(rows):
    """Touches one byte a page, as reader_ours does."""
    if isinstance(rows, list):
        return sum(touch(row) for row in rows)
    return int(np.asarray(rows).reshape(-1).view(np.uint8)[::4096].sum())


def measure(peer, epoch):
    """Reads an epoch. batch_ms are the times from each batch to the next, except to the first."""
    batch_ms, count, last = [], 0, None
    begin = time.perf_counter()
    for mel, tokens in peer.epoch(epoch):
        now = time.perf_counter()
        if last is not None:
            batch_ms.append((now - last) * 1e3)
        last = now
        touch(mel)
        touch(tokens)
        count += BATCH
    return {"samples": count, "seconds": time.perf_counter() - begin, "batch_ms": batch_ms}


def check(peer, is_ordered):
    """Checks that one epoch is all clips once, that each row is the stored sample (whose first
    number is its own), and that epochs differ."""
    mels, tokens = sources(peer.folder)
    epochs = []
    for epoch in (0, 1):
        seen = []
        for number, (mel, text) in enumerate(peer.epoch(epoch)):
            if not isinstance(mel, list):
                mel, text = np.asarray(mel), np.asarray(text)
                assert mel.shape == (BATCH, FRAMES, MELS) and mel.dtype == np.float32, (mel.shape, mel.dtype)
                assert text.shape == (BATCH, TOKENS) and text.dtype in (np.int32, np.int64), (text.shape, text.dtype)
            clips = [int(row[0, 0]) for row in mel]
            seen += clips
            if number % 16 == 0:
                for row, i in enumerate(clips):
                    assert np.array_equal(mel[row], mels[i]) and np.array_equal(text[row], tokens[i]), i
        assert sorted(seen) == list(range(CLIPS)), "an epoch is not every sample once"
        epochs.append(seen)
    if not is_ordered:
        assert epochs[0] != epochs[1] and epochs[0] != sorted(epochs[0]), "the order is not shuffled"


def version_of(module):
    import importlib.metadata

    packages = {"spdl.pipeline": "spdl-core"}
    try:
        return importlib.metadata.version(packages.get(module, module.split(".")[0]))
    except importlib.metadata.PackageNotFoundError:
        return "of the working tree"


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # standard output is for answers; libraries print to standard error
    kind = reader_table.PEERS[name][0]
    peer = (getattr(reader_by_hand, kind, None) or getattr(reader_loaders, kind))(folder)
    for module in peer.modules:
        __import__(module)
    stored_by = next(base for base in type(peer).__mro__ if "store" in vars(base))
    marker = folder / f"{stored_by.__name__}.stored"
    if not marker.exists():
        peer.store()
        marker.touch()
    peer.open()
    print(
        json.dumps({"modules": [f"{module.split('.')[0]} {version_of(module)}" for module in peer.modules]}),
        file=answers,
    )
    for line in sys.stdin:
        if line.strip() == "check":
            check(peer, is_ordered=isinstance(peer, reader_by_hand.OursInPlace))
            print("{}", file=answers)
        else:
            print(json.dumps(measure(peer, int(line))), file=answers)


if __name__ == "__main__":
    main()
