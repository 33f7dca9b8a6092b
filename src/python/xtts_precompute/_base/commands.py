"""How a command of this package ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from .errors import Error, exit_code


def run_command(name: str, work: Callable[[], int | None], as_json: bool = False) -> int:
    """Does the work of a command, tells its failure on stderr, and returns the exit code (README.md).

    `work` may return the code. `as_json`: a failure is a JSON document on stdout, too, as the
    program's commands have it.
    """
    code: int | None = 0
    try:
        code = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the output has gone, as in `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"{name}: {error}", file=sys.stderr)
        if as_json:
            kind = error.code if isinstance(error, Error) else "resource"
            code_name = kind.lower().replace(" ", "_").replace("/", "")
            print(json.dumps({"error": {"code": code_name, "message": str(error)}}))
        return code
    return code or 0
