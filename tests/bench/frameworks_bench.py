#!/usr/bin/env python3
"""frameworks_bench.py CACHE [ROUNDS]: what the integrations cost beside the reader alone.

Reads epochs of batches of 32 through whichever of PyTorch, TensorFlow and JAX are installed, and
looks at one number of each batch. Each round goes through all ways in turn, and ratios are within
a round. Figures of one run can be compared, those of two runs hardly.

The page cache is warm after the first round, which does not count. DataLoader starts its workers
anew for each epoch; the time to its first batch is not in the table. tests/python/frameworks.sh
makes an environment with all three.
"""

import importlib.util
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import xtts_precompute as xp

BATCH = 32


def ways_of_torch(cache):
    from torch.utils.data import DataLoader

    def look(batch):
        return float(batch["mel"][0, 0, 0])

    batches, clips = xp.torch.BatchDataset(cache, batch_size=BATCH), xp.torch.ClipDataset(cache)
    yield "torch.Loader", xp.torch.Loader(cache, batch_size=BATCH), look
    yield "torch.Loader, none, in_place", xp.torch.Loader(cache, batch_size=BATCH, shuffle="none", in_place=True), look
    yield "torch.Loader, none, copied", xp.torch.Loader(cache, batch_size=BATCH, shuffle="none"), look
    for workers in (0, 2):
        yield f"BatchDataset, {workers} workers", DataLoader(batches, batch_size=None, num_workers=workers), look
        yield (
            f"ClipDataset, {workers} workers",
            DataLoader(clips, BATCH, shuffle=True, num_workers=workers, collate_fn=clips.collate),
            look,
        )
    yield "ClipDataset, default collate", DataLoader(clips, BATCH, shuffle=True), look


def ways_of_tensorflow(cache):
    import tensorflow as tf

    @tf.function
    def look(batch):
        return batch["mel"][0, 0, 0]

    yield "tensorflow.Loader", xp.tensorflow.Loader(cache, batch_size=BATCH), look
    yield "tensorflow.dataset", xp.tensorflow.dataset(cache, batch_size=BATCH), look
    yield (
        "tensorflow.dataset, AUTOTUNE",
        xp.tensorflow.dataset(cache, batch_size=BATCH, buffer=0).prefetch(tf.data.AUTOTUNE),
        look,
    )
    yield "tensorflow.dataset, none", xp.tensorflow.dataset(cache, batch_size=BATCH, shuffle="none"), look


def ways_of_myxtts(cache):
    """Yields the ways to the trainer's tuples, for a cache of the recipe myxtts as it is."""
    import tensorflow as tf

    @tf.function
    def look(tokens, mel, text_len, mel_len):
        return mel[0, 0, 0]

    fields = ("tokens", "mel", "text_len", "mel_len")
    keys = {"batch_size": BATCH}
    padded, longest = (
        xp.myxtts.open({**keys, "pad_to_fixed_length": pads}, cache, split=None) for pads in (True, False)
    )
    yield (
        "tensorflow.dataset, tuple",
        xp.tensorflow.dataset(cache, batch_size=BATCH, fields=fields, structure=tuple),
        lambda batch: look(*batch),
    )
    yield (
        "create_tf_dataset, dropped end",
        padded.create_tf_dataset(repeat=False, drop_remainder=True),
        lambda batch: look(*batch),
    )
    yield "create_tf_dataset", padded.create_tf_dataset(repeat=False), lambda batch: look(*batch)
    yield "create_tf_dataset, longest", longest.create_tf_dataset(repeat=False), lambda batch: float(batch[1][0, 0, 0])
    yield "myxtts reader", padded.reader(), lambda batch: float(batch.mel[0, 0, 0])
    yield "myxtts reader, longest", longest.reader(), lambda batch: float(batch.mel[0, 0, 0])


def ways_of_jax(cache):
    import jax

    look = jax.jit(lambda batch: batch.mel[0, 0, 0])
    yield "jax.Loader", xp.jax.Loader(cache, batch_size=BATCH), lambda batch: look(batch).block_until_ready()


def epoch(batches, look):
    """Gives the times from one batch to the next in ms, without the first."""
    times, last = [], None
    for batch in batches:
        look(batch)
        now = time.perf_counter()
        if last is not None:
            times.append(1e3 * (now - last))
        last = now
        del batch
    return times


def measure(ways, rounds):
    found = {name: [] for name, _, _ in ways}
    for number in range(rounds + 1):
        for name, batches, look in ways:
            times = epoch(batches, look)
            if number:
                found[name].append(times)
    return found


def show(found):
    print(f"{'':30} samples/s   p50 ms   p99 ms   std/mean   of the reader's time")
    for name, epochs in found.items():
        times = sorted(time for one in epochs for time in one)
        mean = statistics.fmean(times)
        ratio = statistics.median(
            statistics.median(one) / statistics.median(plain) for one, plain in zip(epochs, found["reader"])
        )
        p99 = times[int(len(times) * 0.99)]
        print(
            f"{name:30} {1e3 * BATCH / mean:9.0f} {times[len(times) // 2]:8.3f} {p99:8.3f} "
            f"{statistics.pstdev(times) / mean:10.2f} {ratio:8.2f}"
        )


def main():
    cache, rounds = xp.open(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    # The frameworks run one after the other: PyTorch forks its workers before the others have
    # threads.
    for name, make in (
        ("torch", ways_of_torch),
        ("tensorflow", ways_of_tensorflow),
        ("tensorflow", ways_of_myxtts),
        ("jax", ways_of_jax),
    ):
        if importlib.util.find_spec(name):
            plain = ("reader", cache.reader(batch_size=BATCH), lambda batch: float(batch.mel[0, 0, 0]))
            show(measure([plain, *make(cache)], rounds))


if __name__ == "__main__":
    main()
