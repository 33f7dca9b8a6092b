"""The doctor's report as one HTML file: the verdict and a command, pictures, what to do, and the rest, folded.

The file needs no network and no script. All texts are escaped, and it is well-formed XML too. Equal values give equal
bytes. Colours have a contrast of 4.5 at least, which tests/html/check_pages.py computes in a browser.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

import jinja2
from markupsafe import Markup, escape

from ..charts import Bar, Bars, Chart, Level
from ..findings import ORDER, Check, Finding, changes, recommended
from ..words import visible
from .persian import DIGITS, PERSIAN
from .pictures import picture_of

MAIN_CHECK = "will_it_help"  # the question for which the doctor is asked
ANSWERS = ("Yes", "No", "Perhaps")  # how its summary begins
CHARTS_IN_FRONT = 4
STATUS = {  # a sign, a word, and the class of its colour
    "fail": ("✗", "fail", "bad"),
    "warn": ("!", "warn", "warn"),
    "cannot_tell": ("?", "cannot tell", "unknown"),
    "pass": ("✓", "pass", "good"),
}


@dataclasses.dataclass(frozen=True)
class Facts:
    """What a page says besides the checks."""

    title: str = "Why does the GPU wait?"
    date: str = ""  # as it is to be shown
    machine: list[str] = dataclasses.field(default_factory=list)
    versions: list[str] = dataclasses.field(default_factory=list)
    config: str = "config.yaml"  # the file that the changes are for


def page_of(facts: Facts, checks: list[Check], language: str = "en") -> str:
    """language: "en", or "fa", which has the page's own words in Persian. The checks' sentences stay English."""
    todo = recommended(checks)
    command = re.search("`(xtts-precompute [^`]+)`", todo[0].remedy) if todo else None
    statuses = [check.status for check in checks]
    ranked = sorted(checks, key=lambda check: (check.name != MAIN_CHECK, ORDER.index(check.status)))
    status, verdict = _verdict_of(ranked)
    answer = re.match("|".join(ANSWERS), verdict) if ranked and ranked[0].name == MAIN_CHECK else None
    return _template(language).render(
        answer=answer[0] if answer else "",
        changes=changes(checks),
        checks=checks,
        command=command[1] if command else "",
        counts=[(status, statuses.count(status)) for status in ORDER if status in statuses],
        facts=facts,
        front=_charts_in_front(ranked),
        gains=_chart_of_gains(todo),
        is_persian=language == "fa",
        status=status,
        todo=todo,
        verdict=verdict,
    )


def _verdict_of(ranked: list[Check]) -> tuple[str, str]:
    """The main check's answer, or that of the worst."""
    if not ranked:
        return "cannot_tell", "Nothing was checked."
    if ranked[0].name == MAIN_CHECK or ranked[0].status != "pass":
        return ranked[0].status, ranked[0].summary
    return "pass", "Nothing was found that holds training back."


def _charts_in_front(ranked: list[Check]) -> list[Chart]:
    """Those of the main check, then those of what fails, then of what warns."""
    which = [check for check in ranked if check.name == MAIN_CHECK or check.status in ("fail", "warn")]
    return [chart for check in which for chart in check.charts][:CHARTS_IN_FRONT]


def _chart_of_gains(todo: list[Finding]) -> Chart | None:
    gains = [(f"{i}. {one.remedy}".replace("`", ""), one.gain) for i, one in enumerate(todo, 1) if one.gain]
    bars = [Bar(label, (gain.low + gain.high) / 2, gain.low, gain.high) for label, gain in gains]
    content = Bars("×", bars, [Level("as now", 1.0)])
    return Chart("Expected speed of training", content, "each change alone") if len(bars) > 1 else None


def _template(language: str) -> jinja2.Template:
    def say(words: str) -> str:
        return Markup(PERSIAN[words]) if language == "fa" and words in PERSIAN else words

    environment = jinja2.Environment(
        autoescape=True,
        finalize=_shown,
        loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(say=say, with_code=_with_code)
    environment.filters["digits"] = lambda count: str(count).translate(DIGITS if language == "fa" else {})
    environment.globals.update(picture_of=picture_of, STATUS=STATUS)
    return environment.get_template("page.html.j2")


def _shown(value: object) -> object:
    """No value that is printed steers the page: only markup of our own stays as it is."""
    if isinstance(value, Markup):
        return value
    return visible(str(value))


def _with_code(text: str) -> Markup:
    """What stands in backticks becomes code."""
    pieces = [escape(_shown(piece)) for piece in re.split("`([^`]+)`", text)]
    return Markup().join(
        Markup('<code dir="ltr">{}</code>').format(piece) if i % 2 else piece for i, piece in enumerate(pieces)
    )
