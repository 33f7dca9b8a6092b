"""README.md and docs/: what the pages tell the reader to do is done, and their links are followed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import PROGRAM, PROJECT

RUN_PAGE = PROJECT / "tests/docs/run_page.py"
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
NOTES = [path for path in PROJECT.rglob("*.md") if not {"build", ".git"} & set(path.relative_to(PROJECT).parts)]


def name_of(page):
    return str(page.relative_to(PROJECT))


@pytest.fixture(scope="module")
def sample_corpus(tmp_path_factory):
    """The corpus that the pages tell the reader to make."""
    if not shutil.which("espeak-ng") or not shutil.which("ffmpeg"):
        pytest.skip("espeak-ng or ffmpeg is missing: the sample corpus cannot be made")
    folder = tmp_path_factory.mktemp("sample") / "data"
    subprocess.run([PROJECT / "samples/make_corpus.sh", folder], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_says_works(page, sample_corpus, tmp_path):
    for package in re.findall(r"<!-- needs: (\w+) -->", page.read_text(encoding="utf-8")):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here: the page is not tried")
    shutil.copytree(sample_corpus, tmp_path / "data")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["PATH"] = os.pathsep.join([str(PROGRAM.parent), str(Path(sys.executable).parent), environment["PATH"]])
    command = [sys.executable, RUN_PAGE, page]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("```sh\nfalse\n```\n", "line 2: exit code 1, not 0"),
        ("<!-- exit: 3 -->\n```sh\nfalse\n```\n", "exit code 1, not 3"),
        ("```console\n$ echo 12 clips\n10 files\n```\n", "12 clips"),
        ("```console\n$ echo 12 clips\n```\n", "12 clips"),
        ("```console\n$ printf 'a\\nb\\n'\n...\na\n```\n", "prints"),
        ("```python\nx = 1\n```\n```python\nassert x == 2\n```\n", "AssertionError"),
        ("<!-- setup: false -->\n\nText.\n", "exit code 1"),
        ("```sh\ntrue\n```\n\n<!-- python: 1 / 0 -->\n", "ZeroDivisionError"),
        ("```sh\ntrue\n", "has no end"),
    ],
)
def test_a_page_that_does_not_work_is_found(page, why, tmp_path):
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, RUN_PAGE, "page.md"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and why in done.stderr


def anchors_of(page):
    """Returns the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", NOTES, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    for target in targets:
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), f"{name_of(page)} links to {target}, which is not there"
        assert not anchor or anchor in anchors_of(to), f"{name_of(page)} links to {target}: no such heading"
