"""xtts-precompute config check FILE: the program reads the command line first, and hands it over."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..probe import Program
from ..running import run as run_command
from ..words import Failure, visible
from . import gpus, trainer
from .check import check
from .facts import Situation
from .file import read_bytes, replace
from .findings import Change, Check, Finding
from .fix import Fix, mend
from .tree import read_text

_GPUS_MAX = 64
_WORDS = {"fail": "fault", "warn": "warning", "cannot_tell": "not judged", "pass": "note"}
_IS_REACHED = {"": (), "warn": ("warn", "fail"), "fail": ("fail",)}


def main(words: list[str]) -> int:
    return run_command(sys.modules[__name__], "config", words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["check"])
    parser.add_argument("file")
    parser.add_argument("--fix", action="store_true")
    for name in ("--gpu", "--gpus", "--cache"):
        parser.add_argument(name, default="")
    parser.add_argument("--fail-on", choices=["", "warn", "fail"], default="")
    parser.add_argument("--for", dest="reader", choices=["launcher", "trainer"], default="launcher")


def run(options: argparse.Namespace, program: Program) -> tuple[str, str, dict[str, Any]]:
    """Returns what is printed, the message of a --fail-on that is reached, and the JSON document."""
    its = trainer.load()
    situation = _situation(options, its, program)
    data = read_bytes(options.file)
    text = read_text(data, options.file)

    def judge(text: str) -> Check:
        return check(text, options.file, its, situation, program)

    fix, backup = Fix(text, judge(text)), ""
    if options.fix:
        fix = mend(text, options.file, its, judge)
        if fix.text != text:
            backup = replace(options.file, data, fix.text.encode())
            fix.check = judge(fix.text)
    document = {
        **fix.check.json(),
        "file": options.file,
        "fixed": [change.json() for change in fix.changes],
        "refused": fix.refused,
        "backup": backup or None,
    }
    reached = fix.check.status in _IS_REACHED[options.fail_on]
    printed = _fix_text(fix, backup) + _findings_text(fix.check) + visible(fix.check.summary) + "\n"
    return printed, fix.check.summary if reached else "", document


def _situation(options: argparse.Namespace, its: trainer.Trainer, program: Program) -> Situation:
    situation = Situation(cache=options.cache, reader=options.reader)
    if options.gpu:
        situation.gpu = gpus.named(its, options.gpu)
    else:
        machine = program.probe("machine")
        if machine["gpus"]:
            first = machine["gpus"][0]
            situation.gpu = gpus.of_driver(its, first["name"], first["memory_bytes"], machine["usable_cores"])
            situation.gpu_count = len(machine["gpus"])
    if options.gpus:
        if not options.gpus.isascii() or not options.gpus.isdigit() or not 1 <= int(options.gpus) <= _GPUS_MAX:
            raise Failure("invalid_argument", f"--gpus is a number from 1 to {_GPUS_MAX}, not '{options.gpus}'")
        situation.gpu_count = int(options.gpus)
    return situation


def _findings_text(made: Check) -> str:
    return "".join(_finding_text(finding) for finding in made.by_status())


def _finding_text(finding: Finding) -> str:
    text = f"{visible(finding.place)}: {_WORDS[finding.status]}: {visible(finding.text)}\n"
    if finding.remedy:
        text += f"  -> {visible(finding.remedy)}\n"
    if finding.gain:
        low, high = (f"{one:g}" for one in finding.gain)
        text += f"     {low if low == high else f'{low} to {high}'} times as fast ({finding.BASIS})\n"
    return text


def _fix_text(fix: Fix, backup: str) -> str:
    text = "".join(f"mended {_change_text(change)}\n" for change in fix.changes)
    text += "".join(f"left {visible(reason)}\n" for reason in fix.refused)
    return text + (f"the old file is {visible(backup)}\n" if backup else "")


def _change_text(change: Change) -> str:
    if not change.after:
        return f"{visible(change.key)}: now a comment"
    return f"{visible(change.key)}: {visible(change.before) or 'added'} -> {visible(change.after)}"
