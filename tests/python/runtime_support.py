"""What the tests of clips without a cache share."""

import contextlib
import os
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PADDING

SETTINGS = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}


def runtime(data, **options):
    return xp.runtime(data, **{"settings": SETTINGS, "progress": False, "workers": 2, **options})


def count_threads():
    """Counts this process's threads, also those that Python does not know: a reader's."""
    return len(os.listdir("/proc/self/task"))


def wait_until(holds, seconds=10):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def decoders():
    """Returns the decoding processes that this process has started."""
    children = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    return [pid for pid in children if b"xtts-decode" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@contextlib.contextmanager
def standing_still():
    """Stops the decoders while the block lasts: whoever needs a clip waits."""
    stopped = decoders()
    assert stopped
    for pid in stopped:
        os.kill(int(pid), signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            os.kill(int(pid), signal.SIGCONT)


def same(one, other):
    """Returns whether two arrays have the same type, shape and bits."""
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def check_same_batches(of_cache, of_clips):
    """Compares every array of every batch of the epoch; returns the number of batches."""
    count = 0
    for expected, batch in zip(of_cache, of_clips, strict=True):
        count += 1
        assert batch.columns == expected.columns and len(batch) == len(expected)
        for name in expected.columns:
            assert same(batch[name], expected[name]), name
            assert same(batch.lengths(name), expected.lengths(name)), name
        assert same(batch.speaker, expected.speaker) and same(batch.language, expected.language)
        assert batch.valid_count == expected.valid_count and batch.ids == expected.ids
    return count


def in_child(work):
    """Runs `work` in a forked child; returns its exit code, 0 if `work` returned true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and later warn of any fork beside threads
        child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
