"""Runs programs over the adversarial driver of tests/support/cuda_driver, which needs no GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("XTTS_BUILD", Path(__file__).parents[2] / "build/check")) / "tests/support/cuda_driver"
needs_driver = pytest.mark.skipif(
    not (FOLDER / "libcuda.so.1").exists(),
    reason=f"there is no {FOLDER}/libcuda.so.1: cmake --build build/check --target xtts_fake_cuda",
)

BEGINNING = """
import ctypes, json, sys
import numpy as np
import xtts_precompute as xp

driver = ctypes.CDLL("libcuda.so.1")
driver.fake_cuda_make_stream.restype = ctypes.c_uint64
driver.fake_cuda_launch_read.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
driver.fake_cuda_copy_to_host.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
driver.fake_cuda_finish.argtypes = [ctypes.c_uint64]


def lines(call):
    text = ctypes.create_string_buffer(100_000)
    call(text, ctypes.c_size_t(len(text)))
    return text.value.decode().splitlines()


def read(array):
    numbers = np.empty(array.shape, array.dtype)
    driver.fake_cuda_copy_to_host(array._memory.address, numbers.ctypes.data, numbers.nbytes)
    return numbers


def same(array, expected):
    return read(array).tobytes() == np.ascontiguousarray(expected).tobytes()


cache = xp.open(sys.argv[1])
seed = int(sys.argv[2])
result = {}
"""
END = """
import gc
gc.collect()
result["faults"] = lines(driver.fake_cuda_faults)
result["left"] = lines(driver.fake_cuda_leftovers)
print(json.dumps(result))
"""


def run(path, body, seed=7):
    """Runs a program over the adversarial driver, and returns its `result`."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(FOLDER), "XTTS_FAKE_CUDA_SEED": str(seed)}
    ended = subprocess.run(
        [sys.executable, "-c", BEGINNING + body + END, str(path), str(seed)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout.splitlines()[-1])
    assert result.pop("faults") == [] and result.pop("left") == []
    return result
