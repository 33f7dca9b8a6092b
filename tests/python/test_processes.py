"""Fork, spawn, pickling, and the interpreter's end.

Each test runs in its own process, because a failure hangs or dies.
"""

import multiprocessing
import pickle
import shutil
import sys

import pytest
import xtts_precompute as xp
from support import run_python

# run(work) reports a child's failure to the parent; a child that hangs is a failure. Python 3.12
# and later warn of every fork beside threads; the tests show that it works all the same.
FORK = """
import os, sys, time, traceback, warnings
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
import numpy as np
import xtts_precompute as xp

def run(work, leave=os._exit):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        leave(0)
    until = time.monotonic() + 20
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert status == 0, status
            return
        if time.monotonic() > until:
            os.kill(child, 9)
            sys.exit("the child hangs")
        time.sleep(0.002)
"""


def test_a_cache_opens_itself_again_in_a_child(path):
    run_python(
        FORK
        + """
cache = xp.open(sys.argv[1])
kept = cache[0].mel
expected = [np.array(clip.mel) for clip in cache]
handle = cache._handle

def child():
    assert cache._handle is handle
    assert all((clip.mel == mel).all() for clip, mel in zip(cache, expected))
    assert cache._handle is not handle and (kept == expected[0]).all()
    run(lambda: (cache[1].mel == expected[1]).all() or 1 / 0)  # a grandchild
    ids = [batch.ids for batch in cache.reader(batch_size=4)]
    assert len(ids) == 9

run(child)
run(child)
assert cache._handle is handle and (cache[1].mel == expected[1]).all()
""",
        path,
    )


@pytest.mark.parametrize("shuffle", ["global", "window"])
def test_a_child_of_a_process_with_busy_threads_ends_at_once(shuffle, path):
    run_python(
        FORK
        + f"""
import threading
cache = xp.open(sys.argv[1])
reader = cache.reader(batch_size=4, shuffle={shuffle!r})
ended = threading.Event()

def take():
    while not ended.is_set():
        for batch in reader:
            cache[0].mel

def child():
    reader.close()  # the parent's thread, which was using it, is not here
    assert "closed" in repr(reader)

threads = [threading.Thread(target=take),
           threading.Thread(target=lambda: [cache[1].mel for _ in iter(ended.is_set, True)])]
for thread in threads:
    thread.start()
try:
    for round in range(10):
        begun = time.monotonic()
        run(child, sys.exit)
        assert time.monotonic() - begun < 5, "the child waited for threads of its parent"
finally:
    ended.set()
for thread in threads:
    thread.join()
""",
        path,
        timeout_s=120,
    )


def test_a_cache_opens_itself_again_in_a_child_that_has_moved(path):
    run_python(
        FORK
        + """
os.chdir(os.path.dirname(sys.argv[1]))
cache = xp.open(os.path.basename(sys.argv[1]))

def child():
    os.chdir("/")
    assert cache[0].text

run(child)
""",
        path,
    )


def test_a_cache_that_was_built_anew_says_so_in_a_child(own_path, second_path):
    run_python(
        FORK
        + """
import shutil
cache = xp.open(sys.argv[1])
shutil.rmtree(sys.argv[1])
shutil.copytree(sys.argv[2], sys.argv[1])

def child():
    try:
        cache[0].text
    except xp.MismatchError as error:
        assert "built anew" in str(error) and "xtts_precompute.open()" in str(error)
    else:
        raise AssertionError("no error")

run(child)
assert cache[0].text  # the parent has the old one
""",
        own_path,
        second_path,
    )


@pytest.mark.parametrize("leave", ["os._exit", "sys.exit"])
@pytest.mark.parametrize("shuffle", ["global", "window"])
def test_a_reader_says_so_in_a_child_and_dies_there_in_peace(shuffle, leave, path):
    run_python(
        FORK
        + f"""
cache = xp.open(sys.argv[1])
reader = cache.reader(batch_size=4, shuffle={shuffle!r}, seed=1)
batch = next(reader)
array = batch.mel
expected = np.array(array)

def child():
    global reader, batch, array
    for use in (lambda: next(iter(reader)), reader.stats, reader.state_dict,
                lambda: len(reader), lambda: reader.set_epoch(3)):
        try:
            use()
        except xp.UnsupportedError as error:
            assert "open a reader in the child" in str(error)
        else:
            raise AssertionError("no error")
    assert (array == expected).all() and batch.ids
    own = cache.reader(batch_size=4, shuffle={shuffle!r}, seed=1)
    assert (next(own).mel == expected).all()
    del array
    batch.release()
    reader.close()
    del batch, reader, own

for round in range(20):
    run(child, {leave})
    for later in reader:  # its threads fill while the next child is made
        break
assert (array == expected).all() and len(later.ids) == 4
""",
        path,
        timeout_s=120,
    )


def in_child(pipe, what):
    """Sends what a worker finds in a cache or reader that was handed to it."""
    if isinstance(what, xp.Reader):
        pipe.send([batch.ids for batch in what])
    else:
        pipe.send([(clip.id, clip.text, float(clip.mel.sum())) for clip in what])
    pipe.close()


def ask(context, what):
    ours, theirs = context.Pipe()
    process = context.Process(target=in_child, args=(theirs, what))
    process.start()
    assert ours.poll(60)
    answer = ours.recv()
    process.join(30)
    assert process.exitcode == 0
    return answer


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_get_a_cache(method, cache):
    expected = [(clip.id, clip.text, float(clip.mel.sum())) for clip in cache]
    assert ask(multiprocessing.get_context(method), cache) == expected


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_get_a_reader_that_goes_on(method, cache):
    reader = cache.reader(batch_size=4, seed=6, columns=iter(["tokens"]), where="seconds > 0.2")
    for _ in range(3):
        next(reader)
    answer = ask(multiprocessing.get_context(method), reader)
    assert answer == [batch.ids for batch in reader] and len(answer) == len(reader) - 3


def test_pickled_caches_know_their_generation(own_path, second_path, tmp_path):
    cache = xp.open(own_path)
    pickled = pickle.dumps(cache)
    assert list(pickle.loads(pickled).ids) == list(cache.ids)
    both = xp.open([own_path, second_path])
    assert list(pickle.loads(pickle.dumps(both)).ids) == list(both.ids)
    shutil.rmtree(own_path)
    with pytest.raises(xp.NotFoundError):
        pickle.loads(pickled)
    shutil.copytree(second_path, own_path)
    with pytest.raises(xp.MismatchError, match="built anew"):
        pickle.loads(pickled)


def test_errors_and_arrays_can_be_pickled_and_batches_cannot(cache):
    with pytest.raises(xp.NotFoundError) as caught:
        cache["x"]
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, xp.NotFoundError) and str(error) == "the cache has no clip 'x'"
    batch = next(cache.reader(batch_size=4))
    array = pickle.loads(pickle.dumps(batch.mel))
    assert (array == batch.mel).all() and array.flags.writeable
    with pytest.raises(TypeError, match="lease"):
        pickle.dumps(batch)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 a module cannot refuse")
def test_a_sub_interpreter_is_refused_and_breaks_nothing(path):
    run_python(
        '''
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import xtts_precompute as xp

inner = interpreters.create()
# The compiled part alone: NumPy has troubles of its own there.
failure = interpreters.run_string(inner, f"""
import importlib.machinery, importlib.util
loader = importlib.machinery.ExtensionFileLoader("xtts_precompute._core", {xp._core.__file__!r})
try:
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("xtts_precompute._core", loader))
    loader.exec_module(module)
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("no error")
""")
assert failure is None, failure
interpreters.destroy(inner)
cache = xp.open(sys.argv[1])
assert next(cache.reader(batch_size=4)).ids and cache[0].text
''',
        path,
    )


ENDS = {
    "with a live reader and arrays in globals": "",
    "with a reader in a cycle": "cycle = [reader]; cycle.append(cycle); del reader",
    "with nothing left but an array": "array = batch.mel; del batch, reader, cache",
    "in the middle of a loop": "import sys\nfor batch in reader:\n    sys.exit(0)",
    "with a thread that takes batches": """
import threading, time
def take():
    try:
        while True:
            for batch in reader:
                pass
    except xp.InvalidArgumentError as error:
        assert "closed" in str(error)
threading.Thread(target=take, daemon=True).start()
time.sleep(0.2)
""",
    "with threads that read clips": """
import threading, time
def read():
    while True:
        for clip in cache:
            clip.mel, clip.text
for _ in range(3):
    threading.Thread(target=read, daemon=True).start()
time.sleep(0.2)
""",
    # ctypes calls it without the GIL, as a library's own thread would.
    "with tensors that another library has dropped": """
import ctypes, numpy as np
api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
api.PyCapsule_SetName.argtypes = ctypes.py_object, ctypes.c_char_p
names = []
for name, deleter_at, capsule in ((b"dltensor", 56, batch.mel.__dlpack__()),
                                  (b"dltensor_versioned", 16, batch.mel.__dlpack__(max_version=(1, 0)))):
    tensor = api.PyCapsule_GetPointer(capsule, name)
    names.append(b"used_" + name)
    api.PyCapsule_SetName(capsule, names[-1])
    deleter = ctypes.c_void_p.from_address(tensor + deleter_at).value
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(tensor)  # without the GIL
""",
    "with a reader that atexit uses": "import atexit; atexit.register(lambda: next(reader))",
    "with a reader in a destructor": """
class Late:
    def __del__(self):
        try:
            next(self.reader)
        except xp.InvalidArgumentError:
            pass
late = Late(); late.reader = reader; late.self = late
""",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("shuffle", ["global", "window"])
def test_the_interpreter_ends_quietly(shuffle, end, path):
    run_python(
        f"""
import sys
import xtts_precompute as xp
cache = xp.open(sys.argv[1])
reader = cache.reader(batch_size=4, shuffle={shuffle!r})
batch = next(reader)
kept = batch.mel[1:3], batch.mel_len, cache[0].mel
{ENDS[end]}
""",
        path,
    )


def test_ctrl_c_comes_between_batches(path):
    said = run_python(
        """
import os, signal, sys, threading
import xtts_precompute as xp
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
reader = xp.open(sys.argv[1]).reader(batch_size=4)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        for batch in reader:
            pass
except KeyboardInterrupt:
    del batch
    print(len([batch.ids for batch in reader]) <= 9)
""",
        path,
    )
    assert said == "True\n"
