"""Long runs take no more memory than short ones."""

from support import RESIDENT_KIB, grown_kib, run_python


def test_memory_stays_flat(path):
    # Measures the resident memory that 500 epochs add after the first 100. A lost 20 KiB lease in
    # each batch would add 90 MiB, a lost Python object of 100 bytes 0.4 MiB.
    code = """
import sys
import xtts_precompute as xp
import numpy as np

cache = xp.open(sys.argv[1])
reader = cache.reader(batch_size=4)
total = 0.0

def epochs(count):
    global total
    for _ in range(count):
        for batch in reader:
            total += float(batch.mel[0, 0, 0]) + int(batch.text_len[0]) + len(batch.ids) + int(batch.speaker[0])
            np.from_dlpack(batch.mel) if hasattr(np, "from_dlpack") else None
            batch.mel.__dlpack__()
        clip = cache[total.__hash__() % len(cache)]
        total += float(clip.mel[0, 0]) + len(clip.text)
        reader.state_dict(), reader.stats()
        try:
            cache["nobody"]
        except xp.NotFoundError:
            pass
"""
    grown = grown_kib(code, 100, 500, path)
    assert grown < 2048, f"{grown} KiB more"


def test_readers_come_and_go(path):
    said = run_python(
        RESIDENT_KIB
        + """
import sys
import xtts_precompute as xp

def open_and_close(count):
    for number in range(count):
        cache = xp.open(sys.argv[1])
        reader = cache.reader(batch_size=4)
        batch = next(reader)
        array = batch.mel
        if number % 2:
            reader.close()
        del reader, cache, batch

open_and_close(30)
before = resident_kib()
threads, files = len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
open_and_close(200)
assert len(os.listdir("/proc/self/fd")) == files and len(os.listdir("/proc/self/task")) == threads
print(resident_kib() - before)
""",
        path,
        timeout_s=300,
    )
    assert int(said) < 4096, f"{said} KiB more"
