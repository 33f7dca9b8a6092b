"""`python -m xtts_precompute.myxtts --cache CACHE train_main.py ARGS...`: the trainer on a cache."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Sequence

from .._base.errors import CorruptError, Error, MismatchError, NotFoundError, exit_code
from .config import ALL_MODES
from .dry_run import Planned, planned
from .faults import fault_of
from .installer import install_for
from .plan import BuildFailedError, Wish, folder_in, ready
from .training import Training, say

_EXAMPLES = """examples:
  python -m xtts_precompute.myxtts --cache ./cache -m myxtts.cli train --config config.yaml --data-path ./data
  python -m xtts_precompute.myxtts --cache ./cache --mode precompute train_main.py --train-data ./a --val-data ./b

A cache that is missing, or not the one that the trainer asks for, is an error that ends in the commands that make
what is missing. --build runs them.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the trainer in this process; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    is_module = options.module is not None
    words = options.module if is_module else options.program
    if not words:
        parser.error("no program of the trainer is named: give train_main.py, or -m myxtts.cli")
    if not is_module and not os.path.isfile(words[0]):
        parser.error(f"there is no program {words[0]}")
    training = Training(
        Wish(
            tuple(map(os.path.abspath, options.cache)),
            options.mode,
            options.mel_len,
            accepts_checkpoint=options.accept_checkpoint,
            builds=options.build,
            by_launcher=True,
        )
    )
    training.resumes_by_itself = not is_module  # train_main.py does; myxtts.cli is told by --resume-from
    try:
        plan = planned(words, is_module)
        if plan is not None:
            _check(plan, training)
        install_for(training)
        _run(words, is_module)
    except Error as error:
        return _ended_by(error)
    except SystemExit as end:
        # myxtts.cli prints an error or that it was interrupted, and ends with 1.
        cause = end.__context__ if end.code not in (None, 0) else None
        if isinstance(cause, Error):
            by_cli = any(frame.filename.endswith("myxtts/cli.py") for frame in traceback.extract_tb(end.__traceback__))
            return _ended_by(cause, is_told=by_cli)
        fault = None if cause is None else fault_of(cause)
        if fault is not None:
            return _told(fault)
        if end.code in (None, 0):
            _report(training, compares=options.compare)
        elif isinstance(cause, KeyboardInterrupt):
            _report(training, measures=False)
        raise
    except KeyboardInterrupt:
        _report(training, measures=False)
        raise
    except Exception as error:
        if traceback.extract_tb(error.__traceback__)[-1].name == "_get_module_details":  # of runpy
            remedy = "Start the command in the trainer's folder, or install the trainer into this Python"
            return _ended_by(NotFoundError(f"-m {words[0]}: {error}. {remedy}"))
        fault = fault_of(error)
        if fault is None:
            raise
        traceback.print_exc()
        return _told(fault)
    _report(training, compares=options.compare)
    return 0


def _check(plan: Planned, training: Training) -> None:
    """Checks the caches and the checkpoint that the trainer will read, and makes caches where asked to."""
    wish = training.wish
    mode = wish.mode_of(plan.config)
    training.has_native = plan.has_native
    if plan.resumes is not None:  # before --build works for nothing
        training.resumes(plan.resumes, plan.config)
    if mode != "runtime":
        found = [
            folder_in(plan.config, data, subset, plan.has_native, wish)
            for data, subset in ((plan.train, "train"), (plan.val, "val"))
        ]
        folders = [folder for folder in found if folder is not None]
        try:
            items = ready(folders, wish, mode)
        except (NotFoundError, MismatchError, CorruptError):
            if mode != "auto":
                raise
        else:
            for folder, one in zip(folders, items):
                training.takes_features(one.paths, folder.asked)


def _run(words: list[str], is_module: bool) -> None:
    sys.argv = words
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(words[0])))
    if is_module:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


def _report(training: Training, **how: bool) -> None:
    if training.watch.steps:
        say(training.report(**how))


def _ended_by(error: Error, is_told: bool = False) -> int:
    if not is_told:
        print(f"xtts-precompute: {error}", file=sys.stderr)
    if isinstance(error, BuildFailedError):
        return error.code_of_build
    return exit_code(error) or 1


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
        choices=ALL_MODES,
        help="precompute: the features of the cache are the features; parity: those of the trainer's own loader; "
        "auto: parity, else the trainer's own loading; runtime: its own loading. Default: preprocessing_mode of the "
        "trainer's configuration if it has one, else parity",
    )
    parser.add_argument("--build", action="store_true", help="make the caches that are missing")
    parser.add_argument(
        "--accept-checkpoint",
        action="store_true",
        help="go on from a checkpoint of other features, or of unknown ones",
    )
    parser.add_argument(
        "--no-compare",
        dest="compare",
        action="store_false",
        help="do not measure the trainer's own loader after training",
    )
    parser.add_argument(
        "--mel-len",
        choices=("trainer", "true"),
        help="with use_tf_native_loading: max_mel_frames for every clip (trainer), or its own length (true; the "
        "default of precompute)",
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
