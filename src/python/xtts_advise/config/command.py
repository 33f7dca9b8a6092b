"""xtts-precompute config check FILE: the program reads the command line first, and hands it over."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..findings import Change, Check, Finding, document_of, reached
from ..probe import Program
from ..running import run as run_command
from ..words import number_of, visible
from . import gpus, trainer
from .check import check
from .facts import Situation
from .file import read_bytes, replace
from .fix import Fix, mend
from .tree import read_text

_GPUS_MAX = 64
_WORDS = {"fail": "fault", "warn": "warning", "cannot_tell": "not judged", "pass": "note"}


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
    fix = judge(options, program)
    document = {**document_of([fix.check]), "file": options.file, **fix.json()}
    summary = fix.check.summary
    printed = fix_text(fix) + _findings_text(fix.check) + visible(summary) + "\n"
    return printed, summary if reached([fix.check], options.fail_on) else "", document


def judge(options: argparse.Namespace, program: Program) -> Fix:
    """Judges options.file for options.{gpu,gpus,cache,reader}, and mends it where options.fix is set."""
    data = read_bytes(options.file)
    text = read_text(data, options.file)
    its = trainer.of_text(text, options.file)
    situation = _situation(options, its, program)

    def judge_text(text: str) -> Check:
        return check(text, options.file, its, situation, program)

    if not options.fix:
        return Fix(text, judge_text(text))
    fix = mend(text, options.file, its, judge_text)
    if fix.text != text:
        fix.backup = replace(options.file, data, fix.text.encode())
        fix.check = judge_text(fix.text)
    return fix


def _situation(options: argparse.Namespace, its: trainer.Trainer, program: Program) -> Situation:
    situation = Situation(cache=options.cache, reader=options.reader)
    if options.gpu:
        situation.gpu = gpus.named(its, options.gpu)
    elif its.gpus:
        machine = program.probe("machine")
        known = [gpu for gpu in machine["gpus"] if gpu["memory_bytes"]]
        if known:
            situation.gpu = gpus.of_driver(its, known[0]["name"], known[0]["memory_bytes"], machine["usable_cores"])
            situation.gpu_count = len(known)
    count = number_of("--gpus", options.gpus, 1, _GPUS_MAX, is_whole=True)
    if count:
        situation.gpu_count = int(count)
    return situation


def _findings_text(made: Check) -> str:
    return "".join(_finding_text(finding) for finding in made.by_status())


def _finding_text(finding: Finding) -> str:
    text = f"{visible(finding.place)}: {_WORDS[finding.status]}: {visible(finding.text)}\n"
    if finding.remedy:
        text += f"  -> {visible(finding.remedy)}\n"
    if finding.gain:
        text += f"     {finding.gain.words} ({finding.gain.basis})\n"
    return text


def fix_text(fix: Fix) -> str:
    text = "".join(f"mended {_change_text(change)}\n" for change in fix.changes)
    text += "".join(f"left {visible(reason)}\n" for reason in fix.refused)
    return text + (f"the old file is {visible(fix.backup)}\n" if fix.backup else "")


def _change_text(change: Change) -> str:
    if not change.after:
        return f"{visible(change.key)}: now a comment"
    after = f'"{change.after}"' if change.after == change.before else change.after
    return f"{visible(change.key)}: {visible(change.before) or 'added'} -> {visible(after)}"
