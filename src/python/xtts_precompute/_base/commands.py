"""How a command of this package ends."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from .errors import Error, exit_code


def run_command(name: str, work: Callable[[], int | None], json_to: TextIO | None = None) -> int:
    """Does the work of a command, tells its failure on stderr, and returns the exit code (README.md).

    `work` may return the code. `json_to`: where a failure is a JSON document, too, as the program's
    commands have it.
    """
    code: int | None = 0
    try:
        code = work()
        for stream in (sys.stdout, json_to):
            if stream is not None:
                stream.flush()
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of the output has gone, as in `... | head`
        _drop(sys.stdout if json_to is None else json_to)
        return 0
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"{name}: {error}", file=sys.stderr)
        out = sys.stdout if json_to is None else json_to
        try:
            if json_to is not None:
                kind = error.code if isinstance(error, Error) else "resource"
                code_name = kind.lower().replace(" ", "_").replace("/", "")
                print(json.dumps({"error": {"code": code_name, "message": str(error)}}), file=json_to)
            out.flush()
        except OSError:  # the output's own disk is full
            _drop(out)
        return code
    return code or 0


def _drop(stream: TextIO) -> None:
    """Lets nothing more be written to a stream that takes nothing more, what it still holds included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def stdout_alone() -> Iterator[TextIO]:
    """Yields stdout for an answer. What anything else prints there meanwhile goes to stderr."""
    out = sys.stdout
    try:
        is_real = out.fileno() == 1
    except (OSError, ValueError):  # a test's own stream
        is_real = False
    if not is_real:
        with contextlib.redirect_stdout(sys.stderr):
            yield out
        return
    out.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as answer:
            yield answer
    finally:
        out.flush()
        os.dup2(kept, 1)
        os.close(kept)
