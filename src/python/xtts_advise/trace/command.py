"""The command `xtts-precompute trace`: runs the trainer with recordings, and reports."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TextIO

from ..others import DISTURBING, Others
from ..running import fail
from ..words import Failure, percent
from .inside import FOLDER
from .judge.findings import Report, judge
from .judge.recording import read_recordings
from .judge.text import text_of

_EXAMPLE = "xtts-precompute trace -- python train.py"
_GRACE_S = 10.0  # for the trainer to end after SIGINT, when --for is over


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("xtts-precompute trace", allow_abbrev=False)
    parser.add_argument("--for", dest="seconds", metavar="S")
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    try:
        program, seconds = program_of(options.program), seconds_of(options.seconds)
        _prepare(options.out, options.keep)
    except Failure as error:
        return fail(error.code, str(error), options.json)
    report, code = traced(program, seconds, options.keep, sys.stderr if options.json else None)
    document = json.dumps(document_of(report, code), indent=2) + "\n"
    if options.out:
        Path(options.out).write_text(document, encoding="utf-8")
    if options.json:
        sys.stdout.write(document)
    elif not options.quiet:
        print("\n" + text_of(report), file=sys.stderr)
    return code


def _prepare(out: str | None, keep: str | None) -> None:
    """Known before a training has run."""
    try:
        if out:
            with open(out, "ab"):
                pass
        if keep:
            os.makedirs(keep, exist_ok=True)
    except OSError as error:
        raise Failure("resource", f"{error.filename} cannot be written: {error.strerror}") from None


def traced(program: list[str], seconds: float | None, keep: str | None, output: TextIO | None) -> tuple[Report, int]:
    """Returns what was found, and the program's exit code. keep: where the recordings stay."""
    folder = keep or tempfile.mkdtemp(prefix="xtts-trace-")
    try:
        os.makedirs(folder, exist_ok=True)
        others = Others()
        code = run(program, os.path.abspath(folder), seconds, output)
        share = others.share()
        report = judge(read_recordings(folder))
        if code and report.training is None:
            report.notes[0] = (
                f"The program ended with exit code {code} before a loop had taken three batches from a DataLoader or a "
                "tf.data iterator. What it printed says why."
            )
        if share is not None and share > DISTURBING:
            report.notes.append(
                f"Other programs used {percent(share)} of the processors meanwhile: what waits for them is slower here."
            )
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return report, code


def program_of(words: list[str]) -> list[str]:
    program = words[1:] if words[:1] == ["--"] else words
    if not program:
        raise Failure("invalid_argument", f"name the program that trains: {_EXAMPLE}")
    if shutil.which(program[0]) is None:
        raise Failure("not_found", f"there is no program {program[0]}: after `--` comes what trains, as in {_EXAMPLE}")
    return program


def seconds_of(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text or "")  # argparse makes an empty list of a "--" that follows the option
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise Failure("invalid_argument", "--for wants a number of seconds above 0, as in --for 120")
    return seconds


def run(program: list[str], folder: str, seconds: float | None, output: TextIO | None) -> int:
    """Returns the program's exit code; 128 and the signal's number where a signal ended it."""
    start = Path(__file__).parent / "start"
    paths = [str(start), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, FOLDER: folder, "PYTHONPATH": os.pathsep.join(paths)}
    child = subprocess.Popen(program, env=environment, stdout=output)
    # Ctrl-C reaches the trainer by the terminal; a signal to this process is passed on.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, _passes_on(child))
    try:
        code = child.wait(seconds)
    except subprocess.TimeoutExpired:
        _end(child)
        print(f"\ntrace: the training was ended after {seconds:g} s (--for).", file=sys.stderr)
        code = 0
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
    return 128 - code if code < 0 else code


def _passes_on(child: subprocess.Popen[bytes]) -> Callable[[int, FrameType | None], None]:
    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    return pass_on


def _end(child: subprocess.Popen[bytes]) -> None:
    """A training that was started in the background may ignore SIGINT."""
    for number, seconds in ((signal.SIGINT, _GRACE_S), (signal.SIGTERM, 2), (signal.SIGKILL, None)):
        child.send_signal(number)
        try:
            child.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            continue


def document_of(report: Report, code: int) -> dict[str, object]:
    training = report.training
    return {
        "version": 1,
        "program_exit": code,
        "step_ms": training.step_s * 1000 if training else None,
        "wait_ms": training.wait_s * 1000 if training and training.knows_wait else None,
        "sample_ms": training.sample_s * 1000 if training else None,
        "workers_cpu_ms": report.workers_cpu_s * 1000,
        "parts": [{"name": name, "ms": seconds * 1000} for name, seconds in report.parts],
        "steps": len(training.loop["steps"]) if training else 0,
        "workers": training.workers if training else None,
        "processes": len(report.recordings),
        "findings": [finding.to_json(rank) for rank, finding in enumerate(report.findings, 1)],
        "notes": report.notes,
    }
