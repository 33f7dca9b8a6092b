"""README.md and docs/: what the pages tell the reader to do is done, and their links are followed."""

import re
import sys

import pytest
from docs_support import PAGES_ALONE, RUN_PAGE, name_of, try_page
from support import PROJECT, ran

# Not of build/: environments are installed there meanwhile.
NOTES = [
    path for top in PROJECT.iterdir() if top.name not in ("build", ".git") for path in (top, *top.rglob("*.md"))
    if path.suffix == ".md"
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES_ALONE, ids=name_of)
def test_what_a_page_says_works(page, sample_corpus, tmp_path):
    try_page(page, sample_corpus, tmp_path)


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
    done = ran(sys.executable, RUN_PAGE, "page.md", cwd=tmp_path)
    assert done.returncode != 0 and why in done.stderr


def anchors_of(page):
    """Returns the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_stays_short():
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


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
