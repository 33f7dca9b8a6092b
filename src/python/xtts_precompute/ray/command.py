"""`python -m xtts_precompute.ray build DATA OUT`: options, and the order of the steps."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from .._base.commands import run_command, stdout_alone
from .._base.errors import InvalidArgumentError
from .cluster import Builds, connect
from .columns import Column, Columns
from .folder import Folder, Request
from .schedule import TOO_MANY_REJECTS, Pace, Placer, Schedule, State
from .totals import Totals
from .view import View, document, summary

PROGRAM = "xtts_precompute.ray"
_PARTS = 64
_EXAMPLES = """examples:
  python -m xtts_precompute.ray build /data/corpus /data/out --parts 500 --recipe tacotron2
  python -m xtts_precompute.ray build /data/corpus /data/out --parts 500 --address ray://head:10001 --scratch /local
  python -m xtts_precompute.ray build /data/corpus /data/out --add-column pitch=my_models:pitch --batch 64 --gpus 1

Options that are not listed here go to `xtts-precompute build` (--recipe, --set, --config, ...). DATA and OUT
have the same path on all nodes. The same command goes on after any interruption.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stdout_alone() as answer:  # Ray prints there when a node dies
        return run_command(PROGRAM, lambda: _build(*_parsed(words), answer), answer if "--json" in words else None)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidArgumentError(f"{message}\npython -m {PROGRAM} build --help says more")


def _parsed(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = _Parser(prog=f"python -m {PROGRAM}", description="Builds a corpus on the machines of a Ray cluster.")
    build = parser.add_subparsers(dest="command", metavar="build", required=True).add_parser(
        "build",
        help="build all parts, or those that are missing",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    build.add_argument("data", metavar="DATA", help="the corpus, as in `xtts-precompute build`")
    build.add_argument("out", metavar="OUT", help="the folder that gets the parts")
    build.add_argument("--parts", type=_count, metavar="N", help=f"how many parts ({_PARTS}, or those of OUT)")
    build.add_argument("--address", metavar="ADDRESS", help="the cluster (RAY_ADDRESS, else one on this machine)")
    build.add_argument("--cpus-per-part", type=_count, default=2, metavar="N", help="processors of a part (2)")
    build.add_argument("--gpus-per-part", type=float, default=0.0, metavar="F", help="GPUs of a part (0)")
    build.add_argument("--scratch", metavar="DIR", help="build on the nodes' own disks, in DIR, and move to OUT then")
    build.add_argument("--add-column", metavar="NAME=MODULE:FUNCTION", help="add a column to the published parts")
    build.add_argument("--axis", choices=("frames", "tokens", "own", "fixed"), default="frames", help="of the column")
    build.add_argument("--batch", type=_count, metavar="N", help="clips that the function gets at once (one clip)")
    build.add_argument("--column-version", default="", metavar="TEXT", help="what names the column's function")
    build.add_argument("--max-length", type=_count, metavar="N", help="rows of the longest record (--axis own)")
    build.add_argument("--gpus", type=float, default=1.0, metavar="F", help="GPUs of the column's actors (1)")
    build.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    build.add_argument("-q", "--quiet", action="store_true", help="errors only on stderr")
    given, build_options = parser.parse_known_args(words)
    if list(words[1:3]) != [given.data, given.out]:  # else the value of an unknown option may stand for one of them
        raise InvalidArgumentError(f"DATA and OUT come first: python -m {PROGRAM} build DATA OUT [options]")
    return given, build_options


def _count(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word[:9]) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"is a number from 1 to 1,000,000, not '{word}'")
    return int(word)


def _build(given: argparse.Namespace, build_options: list[str], answer: Any) -> int:
    column = _column_of(given)
    out = os.path.abspath(given.out)
    folder = Folder(out)
    part_count = given.parts or folder.part_count() or _PARTS
    folder.begin(Request(os.path.abspath(given.data), part_count, build_options))

    totals, state = Totals(), State(part_count)
    missing = []
    for part in range(1, part_count + 1):
        if folder.is_published(part):
            state.done_count += 1
            totals.add(folder.part(part))
        else:
            missing.append(part)
    view = View(state, totals, given.quiet)
    if missing or column is not None:
        with connect(given.address) as ray:
            builds = Builds(ray, out, given.cpus_per_part, given.gpus_per_part, given.scratch)
            _run(builds, folder, missing, view, lambda part: totals.add(folder.part(part)), runs_twice=True)
            builds.collect_local()
            if column is not None and not state.failed:
                state = State(part_count)
                view = View(state, totals, given.quiet)
                columns = Columns(ray, out, column, given.gpus)
                _run(columns, folder, range(1, part_count + 1), view, lambda _: None, runs_twice=False)
    if not state.failed:
        folder.end()
    if given.json:
        print(json.dumps(document(out, state, totals, view.elapsed_s), indent=2), file=answer)
    elif not given.quiet:
        print(summary(out, state, totals, view.elapsed_s), file=answer)
    return _code_of(state)


def _run(
    placer: Placer, folder: Folder, parts: Iterable[int], view: View, done: Callable[[int], None], *, runs_twice: bool
) -> None:
    try:
        Schedule(folder, placer, view.state, Pace(), done, runs_twice).run(parts, view.show)
    finally:
        view.clear()


def _column_of(given: argparse.Namespace) -> Column | None:
    if given.add_column is None:
        return None
    name, _, function = given.add_column.partition("=")
    module, _, attribute = function.partition(":")
    if not (name and module and attribute):
        raise InvalidArgumentError(f"--add-column needs NAME=MODULE:FUNCTION, not '{given.add_column}'")
    return Column(name, module, attribute, given.axis, given.batch, given.column_version, given.max_length)


def _code_of(state: State) -> int:
    """Returns 0, 3 if limits of loss were passed in all parts that failed, or else 6: the same command goes on."""
    codes = {outcome.code for outcome in state.failed.values()}
    return 0 if not codes else codes.pop() if codes == {TOO_MANY_REJECTS} else 6
