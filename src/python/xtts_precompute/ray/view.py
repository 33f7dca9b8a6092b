"""What a person sees of a run: one progress line, and one summary."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

from xtts_advise.words import duration, short

from .._base.words import counted
from .folder import Progress
from .schedule import State
from .totals import Totals

_LINE_EVERY_S, _REDRAW_EVERY_S = 10.0, 1.0


class View:
    """Writes the progress line on stderr: redrawn on a terminal, elsewhere every ten seconds."""

    def __init__(self, state: State, totals: Totals, quiet: bool) -> None:
        self.state, self.totals, self._quiet = state, totals, quiet
        self._began_s = time.monotonic()
        self._done_before = state.done_count
        self._is_terminal = sys.stderr.isatty()
        self._next_s = self._began_s + (_REDRAW_EVERY_S if self._is_terminal else _LINE_EVERY_S)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._began_s

    def show(self) -> None:
        if self._quiet or time.monotonic() < self._next_s:
            return
        if self._is_terminal:
            self._next_s = time.monotonic() + _REDRAW_EVERY_S
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{self.line()[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
        else:
            self._next_s = time.monotonic() + _LINE_EVERY_S
            print(self.line(), file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._is_terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def line(self) -> str:
        """Returns the line. Hours are those of published parts."""
        state, totals = self.state, self.totals
        by_part: dict[int, Progress] = {}  # of two attempts at a part, the one that is ahead
        for run in state.runs.values():
            if run.began_s is not None:
                by_part[run.part] = max(run.progress, by_part.get(run.part, Progress()))
        running = by_part.values()
        words = [
            f"{state.done_count:,}/{state.part_count:,} parts done",
            f"{len(by_part):,} running",
            f"{len(state.failed):,} failed",
        ]
        share_s = self._seconds_left(sum(one.done / one.total for one in running if one.total))
        if share_s is not None:
            words.append(f"ETA {duration(share_s)}")
        words.append(counted(totals.clips + sum(one.done for one in running), "clip", "clips"))
        words.append(f"{short(totals.sound_seconds / 3600)} h")
        speed = sum(one.realtime_factor for one in running)
        if speed:
            words.append(f"{short(speed)}x real time")
        if totals.rejects:
            words.append(counted(sum(totals.rejects.values()), "reject", "rejects"))
        return ", ".join(words)

    def _seconds_left(self, running_share: float) -> float | None:
        state = self.state
        done = state.done_count - self._done_before + running_share
        left = state.part_count - state.done_count - len(state.failed) - running_share
        return left * self.elapsed_s / done if done > 0 and left > 0 else None


def summary(out: str, state: State, totals: Totals, elapsed_s: float) -> str:
    parts = counted(state.part_count, "part", "parts")
    clips = counted(totals.records, "clip", "clips")
    hours = short(totals.sound_seconds / 3600)
    lines = [_row("Done", f"{state.done_count:,} of {parts} in {out}: {clips}, {hours} h, in {duration(elapsed_s)}")]
    if state.repeated_count or state.twice_count:
        lines.append(
            _row(
                "",
                f"{counted(state.repeated_count, 'attempt', 'attempts')} failed and came again, "
                f"{counted(state.twice_count, 'late part', 'late parts')} ran twice",
            )
        )
    if totals.rejects:
        rejected = counted(sum(totals.rejects.values()), "clip", "clips")
        lines.append(_row("Rejects", f"{rejected}, as in PART/rejects.jsonl"))
    for kind, count in sorted(totals.rejects.items(), key=lambda one: (-one[1], one[0])):
        lines.append(_row("", f"{count:>10,}  {kind.reject_class}  {kind.stage}  {kind.rule}: {totals.examples[kind]}"))
    for part, outcome in sorted(state.failed.items()):
        lines.append(_row("Failed", f"part {part:04} with exit code {outcome.code}: {outcome.message}"))
    return "\n".join(lines)


def _row(label: str, text: str) -> str:
    return f"{label:<10}{text}"


def document(out: str, state: State, totals: Totals, elapsed_s: float) -> dict[str, Any]:
    """Returns the summary for programs."""
    rejects = [
        {
            "class": kind.reject_class,
            "stage": kind.stage,
            "rule": kind.rule,
            "count": count,
            "example": {"path": totals.examples[kind]},
        }
        for kind, count in totals.rejects.items()
    ]
    return {
        "out": out,
        "parts": {"count": state.part_count, "done": state.done_count, "failed": len(state.failed)},
        "failed": [{"part": part, **outcome._asdict()} for part, outcome in sorted(state.failed.items())],
        "repeated": state.repeated_count,
        "twice": state.twice_count,
        "clips": totals.clips,
        "records": totals.records,
        "sound_seconds": totals.sound_seconds,
        "elapsed_s": elapsed_s,
        "rejects": {"count": sum(totals.rejects.values()), "kinds": rejects},
    }
