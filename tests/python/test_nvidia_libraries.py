"""The compiled code is told where pip has put NVIDIA's libraries, because the system does not look there."""

import os
import subprocess
import sys

import pytest

START = """
import os
from xtts_precompute import __main__
from xtts_precompute._build import tools
tools.program = lambda: "program"
os.execv = lambda path, arguments: print(os.environ.get("{setting}", "nothing"))
__main__.main()
"""


@pytest.fixture
def packages(tmp_path):
    """A folder of packages as pip lays them out: cuFFT of CUDA 13 and 12, cuFile, and another library of NVIDIA's."""
    for file in (
        "cu13/lib/libcufft.so.12",
        "cufft/lib/libcufft.so.11",
        "cufile/lib/libcufile.so.0",
        "cublas/lib/libcublas.so.12",
    ):
        path = tmp_path / "nvidia" / file
        path.parent.mkdir(parents=True)
        path.touch()
    return tmp_path


def told(packages, setting="XTTS_CUFFT", code=START, **environment):
    """What the command would tell the program, or what `code` prints."""
    ended = subprocess.run(
        [sys.executable, "-c", code.replace("{setting}", setting)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), *sys.path]), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip().split(os.pathsep)


def test_the_folders_of_pip_are_named(packages):
    assert told(packages)[:2] == [str(packages / "nvidia/cu13/lib"), str(packages / "nvidia/cufft/lib")]
    assert told(packages, "XTTS_CUFILE")[:1] == [str(packages / "nvidia/cufile/lib")]


def test_what_the_user_names_stays(packages):
    assert told(packages, XTTS_CUFFT="/chosen") == ["/chosen"]


def test_nothing_is_named_where_there_is_none(tmp_path):
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "nvidia" / "__init__.py").touch()  # hides the packages of this machine
    assert told(tmp_path) == ["nothing"]


def test_a_reader_names_them_when_a_gpu_is_to_read_files(packages):
    code = """
import os
from xtts_precompute._cache.options import core_options
core_options((), {"reading": "gpudirect"})
print(os.environ.get("{setting}", "nothing"))
"""
    assert told(packages, "XTTS_CUFILE", code)[:1] == [str(packages / "nvidia/cufile/lib")]
    assert told(packages, "XTTS_CUFILE", code.replace("gpudirect", "direct")) == ["nothing"]
