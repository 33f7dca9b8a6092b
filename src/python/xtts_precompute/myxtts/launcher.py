"""`python -m xtts_precompute.myxtts --cache CACHE train_main.py ARGS...`: the trainer on a cache."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Sequence

from .._base.errors import Error, exit_code
from .config import MODES
from .faults import fault_of
from .installer import install

_EXAMPLES = """examples:
  python -m xtts_precompute.myxtts --cache ./cache train_main.py --train-data ./data --val-data ./data
  python -m xtts_precompute.myxtts --cache ./cache -m myxtts.cli train --config config.yaml --data-path ./data

A cache that is missing, or not the one that the trainer asks for, is an error that ends in the command that makes it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the trainer in this process; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    is_module = options.module is not None
    words = options.module if is_module else options.program
    if not words:
        parser.error("no program of the trainer is named: give train_main.py, or -m myxtts.cli")
    first = words[0]
    if not is_module and not os.path.isfile(first):
        parser.error(f"there is no program {first}")
    try:
        install(options.cache, options.mode, options.mel_len)
    except Error as error:
        parser.error(str(error))
    sys.argv = words
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(first)))
    try:
        if is_module:
            runpy.run_module(first, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(first, run_name="__main__")
    except Error as error:  # this package's error
        print(f"xtts-precompute: {error}", file=sys.stderr)
        return exit_code(error) or 1
    except Exception as error:
        fault = fault_of(error)
        if fault is None:
            raise
        traceback.print_exc()
        return _told(fault)
    except SystemExit as end:
        # myxtts.cli prints one line of an error, and ends.
        fault = None if end.__context__ is None else fault_of(end.__context__)
        if fault is None:
            raise
        return _told(fault)
    return 0


def _told(fault: str) -> int:
    print(f"xtts-precompute: the trainer fails here without a cache, too: {fault}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xtts_precompute.myxtts",
        description="Runs MyXTTS's own training on a cache. The trainer's files stay as they are.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--cache",
        required=True,
        action="append",
        help="the cache; again for a second one, as where the trainer has two folders",
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="default: preprocessing_mode of the trainer's configuration if it has one, else precompute",
    )
    parser.add_argument(
        "--mel-len",
        choices=("trainer", "true"),
        default="trainer",
        help="with use_tf_native_loading: max_mel_frames for every clip (default), or its own length",
    )
    parser.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        metavar="MODULE ...",
        help="in place of a program: as python -m runs it",
    )
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="the trainer's program and its arguments"
    )
    return parser
