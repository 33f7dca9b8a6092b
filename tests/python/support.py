"""What the tests share: the program that makes caches, and the truth about what is in them.

The truth is found without the package.
"""

import ctypes
import ctypes.util
import importlib.util
import json
import os
import struct
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("XTTS_PRECOMPUTE", PROJECT / "build/check/cli/xtts-precompute"))
MAX_FRAMES, MELS, MAX_TOKENS = 64, 80, 48
FRAMEWORKS = "tests/python/frameworks.sh makes an environment with it"
PADDING = -3.25  # not zero, so that a row that was not filled shows

SPEAKERS = ("ada", "björn", "chen")
LANGUAGES = ("en", "fa")

ALL_FIELDS = ("mel", "tokens", "mel_len", "text_len", "speaker", "language", "ids")
SOME_FORMS = ("lmdb-padded-float32", "hdf5-padded-float16", "lmdb-padded-bfloat16", "hdf5-packed-float32")


def tell(*arguments):
    """Runs the program; returns its standard output."""
    assert PROGRAM.exists(), (
        f"{PROGRAM} is missing: cmake --preset check && cmake --build build/check --target xtts-precompute"
    )
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def write_wav(path, samples, rate=22050):
    """Writes one channel of 16-bit samples."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.astype("<i2").tobytes())


def make_corpus(folder, clip_count, seed=0, prefix="clip", seconds=(0.15, 0.6)):
    """Makes a corpus of chirps with texts, speakers and languages, and a table of them."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    lines = ["file,text,speaker,language"]
    for number in range(clip_count):
        name = f"{prefix}-{number:03d}"
        time = np.arange(int(22050 * random.uniform(*seconds))) / 22050
        pitch = random.uniform(90, 400)
        sound = sum(np.sin(2 * np.pi * k * pitch * (1 + time) * time) / k for k in range(1, 8))
        write_wav(folder / f"{name}.wav", 6000 * sound)
        lines.append(f"{name}.wav,this is {name},{SPEAKERS[number % 3]},{LANGUAGES[number % 5 == 0]}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def build(corpus, cache, *arguments):
    settings = [f"max_frames={MAX_FRAMES}", f"max_tokens={MAX_TOKENS}", f"features.pad_value={PADDING}"]
    tell("build", corpus, cache, "--quiet", *arguments, *(word for one in settings for word in ("--set", one)))
    return cache


class Truth:
    """What the command line says of a cache: it reads one record at a time, without a loader.

    The tokens are the bytes of the texts.
    """

    def __init__(self, cache, work):
        work.mkdir(parents=True, exist_ok=True)
        listed = json.loads(tell("ls", cache, "--json"))["clips"]
        self.clips = {clip["id"]: clip for clip in listed}
        self.order = [clip["id"] for clip in listed]
        self.mels = {}
        self.tokens = {}
        for clip in listed:
            file = work / "mel.npy"
            tell("show", cache, clip["id"], "--npy", file, "--quiet")
            self.mels[clip["id"]] = np.load(file)
            # The recipe's tokens are the bytes of the text, each plus one.
            self.tokens[clip["id"]] = np.frombuffer(clip["text"].encode(), np.uint8).astype(np.int32) + 1

    def padded_mel(self, clip_id, dtype=np.float32, pad_value=PADDING, frames=MAX_FRAMES):
        mel = self.mels[clip_id].astype(dtype)
        record = np.full((frames, MELS), pad_value, dtype)
        record[: len(mel)] = mel
        return record

    def padded_tokens(self, clip_id):
        record = np.zeros(MAX_TOKENS, np.int32)
        record[: len(self.tokens[clip_id])] = self.tokens[clip_id]
        return record

    def check(self, batch, dtype=np.float32):
        """Compares every number of a batch."""
        ids = batch.ids
        assert len(ids) == batch.valid_count
        for row, clip_id in enumerate(ids):
            np.testing.assert_array_equal(
                np.asarray(batch.mel[row]).astype(np.float32),
                self.padded_mel(clip_id, dtype).astype(np.float32),
                clip_id,
            )
            np.testing.assert_array_equal(batch.tokens[row], self.padded_tokens(clip_id), clip_id)
            assert batch.mel_len[row] == len(self.mels[clip_id])
            assert batch.text_len[row] == len(self.tokens[clip_id])
        assert not batch.mel_len[len(ids) :].any() and not batch.text_len[len(ids) :].any()
        assert (np.asarray(batch.speaker[len(ids) :]) == -1).all() and (
            np.asarray(batch.language[len(ids) :]) == -1
        ).all()


# The beginning of programs for run_python that look at their memory.
RESIDENT_KIB = """
import gc, os

def resident_kib():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
"""


class _Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def forge_index(cache, old, new):
    """Writes other bytes of the same length to the index.

    Then it makes every check above them anew, up to the manifest (cache-v1.md, 8 and 9).
    """
    xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64
    xxhash.XXH3_128bits.restype = _Digest

    def check(part, seed=0):
        return struct.pack(
            "<Q", xxhash.XXH3_64bits_withSeed(bytes(part), ctypes.c_size_t(len(part)), ctypes.c_uint64(seed))
        )

    def digest(part):
        found = xxhash.XXH3_128bits(bytes(part), ctypes.c_size_t(len(part)))
        return f"{found.high:016x}{found.low:016x}"

    (path,) = cache.glob("index-*.bin")
    data = bytearray(path.read_bytes())
    footer = len(data) - 4096
    data_bytes, chunk_count = struct.unpack_from("<QQ", data, footer + 48)
    assert len(old) == len(new) and old in data[:data_bytes] and path.name == f"index-{digest(data[footer:])}.bin"
    data[:data_bytes] = data[:data_bytes].replace(old, new)
    checks = b"".join(check(data[i * 65536 : min((i + 1) * 65536, data_bytes)], i) for i in range(chunk_count))
    assert data[data_bytes : data_bytes + 8 * chunk_count] != checks
    data[data_bytes : data_bytes + 8 * chunk_count] = checks
    data[footer + 64 : footer + 72] = check(checks)
    data[-8:] = check(data[footer:-8])
    path.unlink()
    path.with_name(f"index-{digest(data[footer:])}.bin").write_bytes(data)
    manifest = cache / "manifest.json"
    text = manifest.read_bytes().replace(path.name[6:-4].encode(), digest(data[footer:]).encode())
    body = text[: text.rindex(b',"xxh3_128"')]
    manifest.write_bytes(body + f',"xxh3_128":"{digest(body)}"}}\n'.encode())


def ran(*command, check=False, environment=None, **options):
    """Runs a program; returns its exit code and the texts that it wrote. `environment`: variables beside ours."""
    options.setdefault("env", None if environment is None else {**os.environ, **environment})
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=check, **options)


def framework(name):
    """Returns the module of a framework; the test skips itself where it is not installed."""
    return pytest.importorskip(name, reason=f"{name} is not installed here: {FRAMEWORKS}")


def needs(name):
    """The test skips itself where a framework that its programs import is not installed."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed here: {FRAMEWORKS}")


def grown_kib(code, few, many, *arguments):
    """Returns the KiB that a program takes on in `many` of its `epochs()`, after `few` of them."""
    measured = f"\nepochs({few})\nbefore = resident_kib()\nepochs({many})\nprint(resident_kib() - before)\n"
    return int(run_python(RESIDENT_KIB + code + measured, *arguments, timeout_s=300))


def run_python(code, *arguments, timeout_s=60):
    """Runs a Python program; returns its stdout.

    It has to end well, and write nothing to stderr.
    """
    done = ran(sys.executable, "-c", code, *arguments, timeout=timeout_s)
    assert done.returncode == 0 and done.stderr == "", f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def same_bytes(mine, array):
    """Says whether an array of NumPy, JAX or TensorFlow has the bytes of another; types and shapes must be alike."""
    mine = np.asarray(mine)
    assert mine.shape == array.shape and mine.dtype == array.dtype
    return mine.tobytes() == np.ascontiguousarray(array).tobytes()
