"""How each command ends: what it prints, one JSON document, an exit code (docs/exit-codes.md)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from .probe import Program
from .words import EXIT_CODES, Failure, visible


def run(command: Any, name: str, words: list[str]) -> int:
    """Runs a module of a command: add_arguments(parser), and run(options, program).

    run() returns what is printed, the message of a limit that is reached, or "", and the JSON document.
    """
    parser = argparse.ArgumentParser(f"xtts-precompute {name}", allow_abbrev=False)
    command.add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    options = parser.parse_args(words)
    try:
        printed, reached, document = command.run(options, Program())
    except Failure as error:
        return fail(error.code, str(error), options.json, error.is_told)
    except RecursionError:
        return fail("invalid_argument", "the file is nested too deep", options.json)
    except KeyboardInterrupt:
        return 130
    if reached:
        _tell(reached)
    code = _write(dumped(document) if options.json else "" if options.quiet else printed)
    return code or (EXIT_CODES["corrupt"] if reached else 0)


def fail(code: str, message: str, as_json: bool, is_told: bool = False) -> int:
    if not is_told:
        _tell(message)
    if as_json:
        _write(dumped({"error": {"code": code, "message": message}}))
    return EXIT_CODES.get(code, 1)


def dumped(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def begin(step: str) -> None:
    """Shows, on a terminal, what takes a while; "" takes it away."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{visible(step)[:79]}\x1b[K")
        sys.stderr.flush()


def _tell(message: str) -> None:
    lines = "\n".join(visible(line) for line in message.split("\n"))
    sys.stderr.write(f"xtts-precompute: {lines}\n")


def _write(text: str) -> int:
    """Returns the exit code of a failure. A reader that has gone is none."""
    data = memoryview(text.encode(errors="replace"))
    try:
        while data:
            data = data[os.write(sys.stdout.fileno() if sys.stdout else 1, data) :]
    except BrokenPipeError:
        return 0
    except OSError as error:
        _tell(f"writing the output: {error.strerror}")
        return EXIT_CODES["resource"]
    return 0
