"""`python -m xtts_precompute`, and the console script `xtts-precompute`: becomes the bundled program."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    from ._base.errors import UnsupportedError
    from ._build.tools import program

    try:
        path = os.fspath(program())
    except UnsupportedError as error:
        print(f"xtts-precompute: {error}", file=sys.stderr)
        sys.exit(2)
    sys.stdout.flush()
    os.execv(path, ["xtts-precompute", *sys.argv[1:]])


if __name__ == "__main__":
    main()
