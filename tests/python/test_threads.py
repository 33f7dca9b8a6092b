"""Threads: one at a time in a reader, any number in a cache; the GIL is free during long work.

That is work that waits, reads or copies.
"""

import queue
import sys
import threading
import time

import numpy as np
import pytest
import xtts_precompute as xp


def in_threads(count, work):
    failures = []

    def run():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert failures == []


def test_a_second_thread_gets_an_error_and_no_batch_is_lost(cache):
    reader = cache.reader(batch_size=1, prefetch=16)
    seen, refused = [], []
    until = time.monotonic() + 20

    def take():
        while True:
            try:
                batch = next(reader)
            except xp.BusyError as error:
                assert "another thread is using this reader" in str(error)
                refused.append(1)
            except StopIteration:
                return
            else:
                seen.append(batch.ids[0])
                batch.release()

    epochs = 0
    while not refused and time.monotonic() < until:
        in_threads(4, take)
        epochs += 1
        reader.set_epoch(epochs)
    assert refused and sorted(seen) == sorted(list(cache.ids) * epochs)


def test_batches_are_dropped_in_any_thread(cache):
    reader = cache.reader(batch_size=4, prefetch=6)
    handed = queue.Queue(maxsize=2)
    sums = []

    def consume():
        while (batch := handed.get()) is not None:
            sums.append(float(batch.mel.sum()))
            del batch

    thread = threading.Thread(target=consume)
    thread.start()
    for _ in range(30):
        for batch in reader:
            handed.put(batch)
            del batch
    handed.put(None)
    thread.join(60)
    assert len(sums) == 30 * len(reader)
    del thread
    held = []
    with pytest.raises(xp.BusyError, match="slots are held"):
        while True:
            held.append(next(iter(reader)))
    assert len(held) == 6


def test_any_number_of_threads_read_a_cache(cache, truth):
    def read():
        for clip in cache:
            np.testing.assert_array_equal(clip.mel, truth.mels[clip.id])
            assert cache[clip.id].text == truth.clips[clip.id]["text"]

    in_threads(4, read)


@pytest.mark.parametrize(
    "work",
    ["open", "clip", "view", "find", "reader", "next", "stats", "close"],
)
def test_the_gil_is_let_go(work, path, cache):
    # Python asks no thread for the GIL within 1,000 s: another thread runs only where our code lets
    # go of it.
    reader = cache.reader(batch_size=4, weights={"by": "language", "draws": 10**9})  # an endless epoch
    calls = {
        "open": lambda: xp.open(path),
        "clip": lambda: cache[3].text,
        "view": lambda: cache[3].mel,
        "find": lambda: "clip-003" in cache,
        "reader": lambda: cache.reader(batch_size=4),
        "next": lambda: next(reader, None),
        "stats": reader.stats,
        "close": lambda: cache.reader(batch_size=4).close(),
    }
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=tick)
        thread.start()
        until = time.monotonic() + 20
        first = ticks[0]
        while ticks[0] == first and time.monotonic() < until:
            calls[work]()
        ticked = ticks[0] > first
    finally:
        sys.setswitchinterval(before)
        done.set()
        thread.join(10)
    assert ticked
