"""Clips without a cache: failures in threads, forked and spawned processes, memory."""

import gc
import pickle
import shutil
import signal
import sys
import threading
from pathlib import Path

import pytest
import xtts_precompute as xp
from runtime_support import SETTINGS, count_threads, decoders, in_child, runtime, same, standing_still, wait_until
from support import RESIDENT_KIB, make_corpus, ran, run_python

HERE = Path(__file__).parent


@pytest.fixture
def clips(corpus):
    return runtime(corpus)


def test_close_ends_the_threads(clips):
    before = count_threads()
    reader = clips.reader(batch_size=4, threads=4, prefetch=8)
    next(reader)
    assert count_threads() > before
    reader.close()
    reader.close()
    assert count_threads() == before and repr(reader).endswith("closed>")
    with pytest.raises(xp.InvalidArgumentError, match="closed"):
        next(reader)
    with pytest.raises(xp.InvalidArgumentError, match="closed"):
        reader.set_epoch(1)
    assert reader.stats().batch_count == 1 and reader.rejects == () and len(reader) == 9


def test_a_reader_that_is_dropped_ends_its_threads(clips):
    before = count_threads()
    reader = clips.reader(batch_size=4, threads=4, prefetch=8)
    batch = next(reader)
    del reader
    gc.collect()
    assert wait_until(lambda: count_threads() == before)
    assert batch.valid_count == 4


def test_the_processes_that_decode_end_with_the_clips(corpus):
    gc.collect()
    before = len(decoders())
    clips = runtime(corpus)
    _ = clips[0].mel
    assert len(decoders()) == before + 1
    del clips
    gc.collect()
    assert wait_until(lambda: len(decoders()) == before)


def test_two_threads_in_one_reader_are_told(clips):
    refused, ended = [], threading.Event()

    def take():
        while not ended.is_set():
            try:
                if next(reader, None) is None:
                    reader.set_epoch(0)
            except xp.BusyError as error:
                refused.append(str(error))
                ended.set()

    with clips.reader(batch_size=1, prefetch=3) as reader:
        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        assert ended.wait(60)
        for thread in threads:
            thread.join()
        assert "another thread" in refused[0]


def test_another_thread_may_watch_a_reader_that_waits(corpus):
    with runtime(corpus, workers=1).reader(batch_size=4, prefetch=3) as reader:
        taken = [next(reader).valid_count]
        with standing_still():
            thread = threading.Thread(target=lambda: taken.extend(batch.valid_count for batch in reader))
            thread.start()
            assert wait_until(lambda: 1 <= reader.stats().batch_count == len(taken) and reader._core.is_busy)
            assert reader.rejects == ()
            with pytest.raises(xp.BusyError, match="another thread"):
                reader.state_dict()
        thread.join(60)
        assert len(taken) == len(reader) == reader.stats().batch_count


# Ctrl-C during a wait for a batch whose decoder stands still until then, or for 10 s at most.
INTERRUPTED = """
import os, signal, sys, threading, time
import xtts_precompute as xp
sys.path.insert(0, sys.argv[2])
from runtime_support import decoders, standing_still
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it

def later(seconds, call):
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()

options = {"batch_size": 4, "shuffle": "none", "prefetch": 3}
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=1)
reader = clips.reader(**options)
seen = [next(reader).ids]
later(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
later(10, lambda pids=decoders(): [os.kill(int(pid), signal.SIGCONT) for pid in pids])
begin = time.monotonic()
try:
    with standing_still():
        for batch in reader:
            seen.append(batch.ids)
            del batch
except KeyboardInterrupt:
    print(time.monotonic() - begin < 2, len(seen) < len(reader), flush=True)
    {then}
"""


def test_ctrl_c_ends_a_program_that_waits_for_a_batch(corpus):
    code = INTERRUPTED.replace("{then}", "raise")
    done = ran(sys.executable, "-c", code, corpus, HERE, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "True True\n")
    assert done.stderr.endswith("\nKeyboardInterrupt\n")


def test_after_ctrl_c_no_batch_is_lost(corpus):
    code = INTERRUPTED.replace(
        "{then}",
        "seen += [batch.ids for batch in reader]; print(seen == [batch.ids for batch in clips.reader(**options)])",
    )
    assert run_python(code, corpus, HERE) == "True True\nTrue\n"


# For buckets, each clip has to be computed.
OPENING = """
import os, signal, sys, threading, time
import xtts_precompute as xp
signal.signal(signal.SIGINT, signal.default_int_handler)
clips = xp.runtime(sys.argv[1], settings={"max_frames": 2000}, progress=False, workers=1)
begin = []
def interrupt():
    begin.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.3, interrupt).start()
try:
    clips.reader(buckets=[{"batch_size": 4}])
except KeyboardInterrupt:
    print(time.monotonic() - begin[0] < 2, next(clips.reader(batch_size=4)).valid_count)
"""


def test_ctrl_c_ends_the_opening_that_computes_all_clips(tmp_path):
    make_corpus(tmp_path / "data", 4, seconds=(20, 21))
    table = tmp_path / "data/metadata.csv"
    head, *lines = table.read_text(encoding="utf-8").splitlines()
    for number in range(4, 2000):
        (tmp_path / f"data/clip-{number:03d}.wav").hardlink_to(tmp_path / f"data/clip-{number % 4:03d}.wav")
        lines.append(lines[number % 4].replace(f"clip-{number % 4:03d}", f"clip-{number:03d}"))
    table.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    assert run_python(OPENING, tmp_path / "data") == "True 4\n"


# Two times Ctrl-C in a 'with' block. The second ends the wait for the clip in hand, whose decoder
# never goes on.
LEFT = """
import os, signal, sys, threading, time
import xtts_precompute as xp
sys.path.insert(0, sys.argv[2])
from runtime_support import decoders
signal.signal(signal.SIGINT, signal.default_int_handler)
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=1)
begin = time.monotonic()
try:
    with clips.reader(batch_size=4, prefetch=3) as reader:
        next(reader)
        for pid in decoders():
            os.kill(int(pid), signal.SIGSTOP)
        for seconds in (0.3, 0.8):
            threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        for batch in reader:
            del batch
except KeyboardInterrupt as error:
    print(isinstance(error.__context__, KeyboardInterrupt), time.monotonic() - begin < 4,
          repr(reader).endswith("closed>"))
"""


def test_ctrl_c_ends_the_wait_for_a_reader_that_is_closed(corpus):
    assert run_python(LEFT, corpus, HERE, timeout_s=30) == "True True True\n"


def test_an_interpreter_ends_though_a_decoder_stands_still(corpus):
    code = LEFT.replace(
        "with clips.reader(batch_size=4, prefetch=3) as reader:", "if reader := clips.reader(batch_size=4, prefetch=3):"
    )
    code = code.replace("(0.3, 0.8)", "(0.3,)").replace('repr(reader).endswith("closed>")', "True")
    code += "xp._cache.reader._WAIT_AT_EXIT_S = 0.5\n"
    assert run_python(code, corpus, HERE, timeout_s=30) == "False True True\n"


def test_many_threads_may_ask_for_clips(clips, cache):
    wrong = []

    def ask(first):
        for number in range(len(clips)):
            position = (first * 5 + number) % len(clips)
            if not same(clips[position].mel, cache[position].mel):
                wrong.append(position)

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_has_clips_of_its_own(clips, cache):
    _ = clips[0]
    assert in_child(lambda: same(clips[1].mel, cache[1].mel)) == 0
    assert same(clips[1].mel, cache[1].mel)


def test_a_forked_child_may_read_batches(clips):
    with clips.reader(batch_size=5, shuffle="none") as reader:
        expected = next(reader).mel

        def child():
            with pytest.raises(xp.UnsupportedError, match="open a reader in the child"):
                next(reader)
            with clips.reader(batch_size=5, shuffle="none") as own:
                return same(next(own).mel, expected)

        assert in_child(child) == 0
        assert next(reader).valid_count == 5


def test_a_child_of_a_process_that_has_built_has_clips(corpus, cache, tmp_path):
    xp.build(corpus, tmp_path / "cache", settings=SETTINGS, progress=False)
    clips = runtime(corpus)
    assert in_child(lambda: same(clips[1].mel, cache[1].mel)) == 0


def test_data_that_has_changed_is_told_to_a_child(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    clips = runtime(data)
    (data / "clip-003.wav").unlink()

    def child():
        with pytest.raises(xp.MismatchError, match="plan it again"):
            clips[0]
        return True

    assert in_child(child) == 0


def test_pickled_clips_plan_anew(corpus, cache, monkeypatch, tmp_path):
    monkeypatch.chdir(corpus.parent)
    clips = runtime(corpus.name)
    pickled = pickle.dumps(clips)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickled)
    assert same(again[2].mel, cache[2].mel) and again.digest == clips.digest


def test_a_pickled_reader_goes_on_at_the_same_place(clips):
    with clips.reader(batch_size=5, seed=3) as reader:
        next(reader)
        pickled = pickle.dumps(reader)
        left = [batch.ids for batch in reader]
    with pickle.loads(pickled) as again:
        assert [batch.ids for batch in again] == left and len(left) == 6


def test_an_interpreter_may_end_in_the_middle(corpus):
    code = """
import sys, threading
import xtts_precompute as xp
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=4)
reader = clips.reader(batch_size=4, prefetch=8)
print(next(reader).valid_count, flush=True)
def go_on():
    while True:
        for clip in clips:
            pass
threading.Thread(target=go_on, daemon=True).start()
"""
    assert run_python(code, corpus) == "4\n"


def test_memory_does_not_grow(corpus):
    code = (
        RESIDENT_KIB
        + """
import sys
import xtts_precompute as xp
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=2)
reader = clips.reader(batch_size=4)
def epochs(count):
    for _ in range(count):
        for batch in reader:
            batch.ids
    for position in range(len(clips)):
        clips[position].mel
epochs(6)
before = resident_kib()
epochs(20)
print(resident_kib() - before)
"""
    )
    assert int(run_python(code, corpus, timeout_s=300)) < 4096
