"""The compiled code is told where pip has put cuFFT, because the system does not look there."""

import os
import sys

import pytest
from support import ran

START = """
import os
from xtts_precompute import __main__
from xtts_precompute._build import tools
tools.program = lambda: "program"
os.execv = lambda path, arguments: print(os.environ.get("XTTS_CUFFT", "nothing"))
__main__.main()
"""


@pytest.fixture
def packages(tmp_path):
    """A folder of packages as pip lays them out: cuFFT of CUDA 13 and 12, and another library of NVIDIA's."""
    for file in ("cu13/lib/libcufft.so.12", "cufft/lib/libcufft.so.11", "cublas/lib/libcublas.so.12"):
        path = tmp_path / "nvidia" / file
        path.parent.mkdir(parents=True)
        path.touch()
    return tmp_path


def told(packages, **environment):
    """What the command would tell the program."""
    places = os.pathsep.join([str(packages), *sys.path])
    ended = ran(sys.executable, "-c", START, environment={"PYTHONPATH": places, **environment}, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip().split(os.pathsep)


def test_the_folders_of_pip_are_named(packages):
    assert told(packages)[:2] == [str(packages / "nvidia/cu13/lib"), str(packages / "nvidia/cufft/lib")]


def test_what_the_user_names_stays(packages):
    assert told(packages, XTTS_CUFFT="/chosen") == ["/chosen"]


def test_nothing_is_named_where_there_is_none(tmp_path):
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "nvidia" / "__init__.py").touch()  # hides the packages of this machine
    assert told(tmp_path) == ["nothing"]
