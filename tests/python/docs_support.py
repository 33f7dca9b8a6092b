"""The pages of README.md and docs/, and how one is tried."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import PROGRAM, PROJECT

if not (PROJECT / "README.md").exists():
    pytest.skip("README.md and docs/ are not here, only tests/ is: no page is tried", allow_module_level=True)

RUN_PAGE = PROJECT / "tests/docs/run_page.py"
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
FRAMEWORKS = {"torch", "tensorflow", "jax"}


def needs_of(page):
    return re.findall(r"<!-- needs: (\w+) -->", page.read_text(encoding="utf-8"))


PAGES_OF_FRAMEWORKS = [page for page in PAGES if FRAMEWORKS.intersection(needs_of(page))]
PAGES_ALONE = [page for page in PAGES if page not in PAGES_OF_FRAMEWORKS]


def name_of(page):
    return str(page.relative_to(PROJECT))


def try_page(page, sample_corpus, folder):
    for package in needs_of(page):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here: the page is not tried")
    shutil.copytree(sample_corpus, folder / "data")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    folders = [PROGRAM.parent, Path(sys.executable).parent, PROJECT / "samples"]
    environment["PATH"] = os.pathsep.join([*map(str, folders), environment["PATH"]])
    command = [sys.executable, RUN_PAGE, page]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
