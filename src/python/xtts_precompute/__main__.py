"""`python -m xtts_precompute` and the console script `xtts-precompute`: run the bundled program."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Replaces this process by the bundled program, with the same arguments."""
    from ._base.errors import UnsupportedError
    from ._base.nvidia_libraries import name_folders
    from ._build.tools import program

    try:
        path = os.fspath(program())
    except UnsupportedError as error:
        print(f"xtts-precompute: {error}", file=sys.stderr)
        sys.exit(2)
    sys.stdout.flush()
    os.environ.setdefault("XTTS_PYTHON", sys.executable)  # whose frameworks the doctor looks at
    name_folders()
    os.execv(path, ["xtts-precompute", *sys.argv[1:]])


if __name__ == "__main__":
    main()
