"""A copy of tests/ alone can be run, as on a machine with an installed package and no sources."""

import os
import shutil
import sys

from support import PROGRAM, PROJECT, ran


def test_tests_are_collected_without_the_rest_of_the_project(tmp_path):
    (tmp_path / "tests").mkdir()
    for folder in (PROJECT / "tests").iterdir():
        if folder.name == "python":
            shutil.copytree(folder, tmp_path / "tests/python")  # a link would lead back to the project
        else:
            (tmp_path / "tests" / folder.name).symlink_to(folder)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "tests/python"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "XTTS_PRECOMPUTE": str(PROGRAM)}
    done = ran(*command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "tests/python/test_cache.py::" in done.stdout
