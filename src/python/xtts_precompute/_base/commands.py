"""How a command of this package ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from .errors import exit_code


def run_command(name: str, work: Callable[[], None]) -> int:
    """Does the work of a command, tells its failure on stderr, and returns the exit code (README.md)."""
    try:
        work()
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
        return code
    return 0
