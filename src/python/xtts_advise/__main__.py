"""xtts_advise COMMAND ...: what xtts-precompute hands over to this package.

It runs in a Python that has the command's libraries: this one, or else the system's. `python FOLDER/xtts_advise`
works as `python -m xtts_advise`. A first `--program PROGRAM` names the program that hands over.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

if not __package__:  # started by the folder's path
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    __package__ = "xtts_advise"

# Each command: the module whose main(words) runs it, the libraries that it needs, and those that it can say less
# without.
COMMANDS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "config": ("xtts_advise.config.command", ("ruamel.yaml",), ()),
    "doctor": ("xtts_advise.doctor.command", (), ("ruamel.yaml", "jinja2")),
    "picture": ("xtts_advise.picture.command", (), ()),
    "trace": ("xtts_advise.trace.command", (), ()),
}
SYSTEM_PYTHON = "/usr/bin/python3"
OLDEST = (3, 10)


def main() -> int:
    words = sys.argv[1:]
    program = words[1] if words[:1] == ["--program"] else None
    words = words[2:] if program else words
    command = words[0] if words else ""
    if command not in COMMANDS:
        print(f"xtts_advise: there is no command '{command}'", file=sys.stderr)
        return 2
    module, needed, wanted = COMMANDS[command]
    lacking = [one for one in needed if not _has(one)]
    if lacking or sys.version_info < OLDEST or not all(map(_has, wanted)):
        _go_on_in_the_systems_python()
    if lacking or sys.version_info < OLDEST:
        return _refuse(command, lacking, "--json" in words)
    from xtts_advise.probe import Program

    Program.handing_over = program
    return int(importlib.import_module(module).main(words[1:]))


def _has(library: str) -> bool:
    try:
        return importlib.util.find_spec(library) is not None
    except ImportError:
        return False


def _go_on_in_the_systems_python() -> None:
    """Returns where this is the system's Python, or where there is none."""
    is_it = os.path.realpath(sys.executable or "") == os.path.realpath(SYSTEM_PYTHON)
    if not is_it and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, os.path.dirname(os.path.abspath(__file__)), *sys.argv[1:]])


def _refuse(command: str, lacking: list[str], as_json: bool) -> int:
    from xtts_advise.words import bringing

    what = ", ".join(lacking) or f"Python {OLDEST[0]}.{OLDEST[1]}"
    message = f"{command} runs in Python, and {sys.executable} lacks {what}: {bringing(lacking or ['python3'])}"
    print(f"xtts-precompute: {message}", file=sys.stderr)
    if as_json:
        import json

        print(json.dumps({"error": {"code": "unsupported", "message": message}}, indent=2))
    return 2


if __name__ == "__main__":
    sys.exit(main())
