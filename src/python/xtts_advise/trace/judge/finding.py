"""What is said of one cause: where it is, what it costs, what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .calls import Call
from .causes import Cause
from .recording import Place
from .training import Training

WAIT_MIN = 0.15  # of a step: a shorter wait is no fault (users count up to 30 % as good)
SELDOM = "Do it more seldom, or on less: the training stands still meanwhile."
_ERROR = 0.25  # of a call's seconds: samples, and what runs beside it
_REST_MIN = 0.025  # of a step: no gain is above 50-fold


@dataclass
class Finding:
    title: str
    call: str
    file: str
    line: int
    function: str
    seconds_per_step: float
    share: float  # of a step
    remedy: str
    cache: str = "no"
    evidence: list[str] = field(default_factory=list)
    gain: tuple[float, float] = (1.0, 1.0)
    cause: str = ""
    error: float = _ERROR  # of its seconds

    def to_json(self, rank: int) -> dict[str, Any]:
        told = {name: value for name, value in self.__dict__.items() if name != "error"}
        return {"rank": rank, **told, "gain": list(self.gain)}


def finding_of(call: Call, cause: Cause, seconds: float, training: Training, words: list[str], unit: str) -> Finding:
    title = " ".join(filter(None, [f"{call.title}: {words[0]}", cause.purpose if training.workers else ""]))
    remedy = cause.remedy.replace("{unit}", unit)
    more = {"call": call.title, "cache": cause.cache, "evidence": words[1:]}
    return finding_at(call.place, seconds, training, title, remedy, cause.name, **more)


def seldom(place: Place, seconds: float, training: Training, title: str, words: list[str], cause: str) -> Finding:
    """A function of the trainer's own that runs now and then, such as a validation."""
    return finding_at(place, seconds, training, title, SELDOM, cause, evidence=words)


def finding_at(
    place: Place, seconds: float, training: Training, title: str, remedy: str, cause: str, **more: Any
) -> Finding:
    """Returns what a place costs each step. `more`: values of other fields, or other ones than the place gives."""
    given = {"call": place.name, "share": seconds / training.whole_s, **more}
    return Finding(
        title=title,
        file=place.file,
        line=place.line,
        function=place.function,
        seconds_per_step=seconds,
        remedy=remedy,
        cause=cause,
        **given,
    )


def merged(findings: list[Finding]) -> list[Finding]:
    """One finding for each cause and line; one for each of the trainer's functions that compute."""
    kept: dict[tuple[str, int | str, str], Finding] = {}
    for finding in findings:
        place = finding.function if finding.cause == "own code" else finding.line
        key = (finding.file, place, finding.cause)
        first = kept.get(key)
        if first is None:
            kept[key] = finding
        else:
            first.seconds_per_step += finding.seconds_per_step
            first.share += finding.share
    return list(kept.values())


def count_words(call: Call, units: float, unit: str) -> list[str]:
    """How often, and whether always with the same arguments."""
    words = []
    if call.count >= 1.5:
        words.append(f"called {call.count:.0f} times in a {unit}")
    last = call.name.rpartition(".")[2]
    for edge in call.edges:
        if edge["function"].rpartition(".")[2] not in (last, "__init__"):
            continue
        calls = sum(edge["examples"].values()) + edge["others"]
        arguments = next(iter(edge["examples"]), "")
        if calls >= 4 and len(edge["examples"]) == 1 and not edge["others"] and arguments and "~" not in arguments:
            words.append(f"always with the same arguments ({arguments[:60]})")
            break
    return words


def gain_of(step_s: float, seconds: float, error: float = _ERROR) -> tuple[float, float]:
    """How many times as fast a step becomes without these seconds, as a range. What remains is known as well as
    what goes."""
    rest = max(step_s - seconds, _REST_MIN * step_s)
    error_s = error * min(seconds, rest)
    return step_s / (rest + error_s), step_s / (rest - error_s)


def time_of(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
