"""`python -m xtts_precompute.tune`: prints, writes and tries the settings of tuning."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._base.commands import run_command
from .._base.errors import UnsupportedError
from .rows import Report, report_from
from .settings import Setting
from .tuning import FRAMEWORKS, apply, exported, installed, plan_of, verify

_EXAMPLES = """examples:
  eval "$(python -m xtts_precompute.tune --framework torch)"
  python -m xtts_precompute.tune --env-file tune.sh && . ./tune.sh
  python -m xtts_precompute.tune --verify --json

The variables are a part of the settings. For the others, a trainer calls xp.tune.apply() before it
imports the framework: help(xtts_precompute.tune). --verify does so in a new process, with this
shell's environment (and --env-file's variables), and says what is then in force. The exit code is 0,
also with warnings.
"""

# The package's folder comes last, so that nothing beside it hides a module of Python's.
_CHILD = "import sys; sys.path.append(sys.argv[1]); from xtts_precompute.tune.command import child; child(sys.argv[2])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    return run_command("xtts_precompute.tune", lambda: _run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xtts_precompute.tune",
        description="Prints export lines of the environment variables that tune PyTorch and TensorFlow for training "
        "on this machine.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--framework", choices=("auto", *FRAMEWORKS), default="auto", help="auto: all that are installed"
    )
    parser.add_argument("--verify", action="store_true", help="apply everything in a new process, and say what holds")
    parser.add_argument("--env-file", metavar="FILE", help="write the export lines to FILE instead")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    parser.add_argument("--no-xla", action="store_true", help="leave XLA as it is")
    parser.add_argument("--no-mixed-precision", action="store_true", help="leave the precision as it is")
    parser.add_argument("--memory-limit", type=_megabytes, metavar="MB", help="MB of each GPU's memory")
    return parser


def _megabytes(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word[:9]) <= 2**24:
        raise argparse.ArgumentTypeError(f"is a number of MB from 1 to {2**24}, not '{word}'")
    return int(word)


def _run(options: argparse.Namespace) -> None:
    names = installed(options.framework)
    asked: dict[str, Any] = {
        "xla": not options.no_xla,
        "mixed_precision": not options.no_mixed_precision,
        "memory_limit": options.memory_limit,
    }
    plan = plan_of(None, **asked)
    settings = exported(names, plan)
    if options.env_file is not None:
        _write(options.env_file, _lines(settings))
    variables = {one.variable: one.value for one in settings}
    if options.verify:
        environment = {**os.environ, **(variables if options.env_file is not None else {})}
        report = Report(row for name in names for row in _in_child(name, asked, environment))
        if options.json:
            print(json.dumps({"cores": plan.cores, "ok": report.ok, "settings": report.to_json()}, indent=2))
        else:
            print(f"In a new process that calls xp.tune.apply() first, with {plan.cores} usable cores:\n{report}")
    elif options.json:
        print(json.dumps({"cores": plan.cores, "environment": variables}, indent=2))
    elif options.env_file is None:
        print(_lines(settings), end="")


def _lines(settings: list[Setting]) -> str:
    lines = ["# Made by python -m xtts_precompute.tune for this machine."]
    for one in settings:
        lines += [f"# {one.name}: {one.why}", f"export {one.variable}={shlex.quote(one.value)}"]
    return "\n".join(lines) + "\n"


def _write(name: str, text: str) -> None:
    """Puts the file in its place as a whole: a shell may be reading the old one."""
    if os.path.lexists(name) and not os.path.isfile(name):  # a FIFO, /dev/stdout
        Path(name).write_text(text, encoding="utf-8")
        return
    beside = f"{name}.{os.getpid()}.tmp"
    try:
        Path(beside).write_text(text, encoding="utf-8")
        os.replace(beside, name)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise


def _in_child(framework: str, asked: dict[str, Any], environment: dict[str, str]) -> Report:
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # hides TensorFlow's remarks about the processor
    command = [sys.executable, "-c", _CHILD, str(Path(__file__).parents[2]), json.dumps([framework, asked])]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise UnsupportedError(f"{framework} could not be tried: the new process ended with {done.returncode}")
    return report_from(json.loads(lines[-1]))


def child(words: str) -> None:
    """Runs in the new process: applies, then prints what is in force as the last line."""
    framework, asked = json.loads(words)
    apply(framework, **asked)
    print(json.dumps(verify(framework, **asked).to_json()))
