"""`python -m xtts_precompute.ray build DATA OUT`: options, and the order of the steps."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from .._base.commands import run_command, stdout_alone
from .._base.errors import InvalidArgumentError, MismatchError
from .._base.words import counted
from .._build.tools import program
from .cluster import Builds, connect
from .columns import Column, Columns
from .folder import Folder
from .schedule import Pace, Schedule, State
from .totals import Totals
from .view import View, document, summary

PROGRAM = "xtts_precompute.ray"
_PARTS = 64
_LIMITS = ("max_rejects", "max_dropped")
_EXAMPLES = """examples:
  python -m xtts_precompute.ray build /data/corpus /data/out --parts 500 --recipe tacotron2
  python -m xtts_precompute.ray build /data/corpus /data/out --parts 500 --address head:6379 --scratch /local
  python -m xtts_precompute.ray build /data/corpus /data/out --add-column pitch=my_models:pitch --batch 64 --gpus 1

Options that are not listed here go to `xtts-precompute plan` (--recipe, --set, --config, --isa, ...); a plan that
is there needs none. DATA and OUT have the same path on all nodes. The same command goes on after any interruption.
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
    build.add_argument(
        "--memory", metavar="SIZE", help="memory of a part (its processors' share of half of the node's)"
    )
    build.add_argument("--max-rejects", metavar="N|P%", help="how many faulty clips are tolerated, in all parts")
    build.add_argument("--max-dropped", metavar="P%", help="how much the rules may drop, in all parts")
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
    given, plan_options = parser.parse_known_args(words)
    if list(words[1:3]) != [given.data, given.out]:  # else the value of an unknown option may stand for one of them
        raise InvalidArgumentError(f"DATA and OUT come first: python -m {PROGRAM} build DATA OUT [options]")
    return given, plan_options


def _count(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word[:9]) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"is a number from 1 to 1,000,000, not '{word}'")
    return int(word)


def _build(given: argparse.Namespace, plan_options: list[str], answer: Any) -> int:
    column = _column_of(given)
    folder = Folder(os.path.abspath(given.out))
    data = os.path.abspath(given.data)
    known = folder.known_plan()
    if known is None or known["data"]["path"] != data or given.parts or plan_options:
        parts = f"--parts={given.parts or folder.part_count() or _PARTS}"
        code = _ran(["plan", data, str(folder.plan), parts, *plan_options, *_limits(given, {})], given, answer)
        if code != 0:
            return code
    folder.begin()
    _remove_parts_of_other_plans(folder, is_asked="--overwrite" in plan_options)
    part_count = folder.part_count() or 0
    totals, state = Totals(), State(part_count)
    missing = []
    for part in range(1, part_count + 1):
        if folder.is_published(part):
            state.done_count += 1
            totals.add(part, folder.part(part))
        else:
            missing.append(part)
    view = View(state, totals, given.quiet)
    if missing or column is not None:
        with connect(given.address) as ray:
            _build_missing(ray, given, folder, missing, view)
            if column is not None and not state.failed:
                _add_column(ray, given, folder, column, view)
    if not state.failed:
        parts_of = [str(folder.part(part)) for part in range(1, part_count + 1)]
        limits = _limits(given, (folder.known_plan() or {}).get("limits", {}))
        code = _ran(["set", str(folder.path), *parts_of, *limits, "--quiet"], given, answer)
        if code != 0:
            return code
        folder.end()
    if given.json:
        print(json.dumps(document(str(folder.path), state, totals, view.elapsed_s), indent=2), file=answer)
    elif not given.quiet:
        print(summary(str(folder.path), state, totals, view.elapsed_s), file=answer)
    return 6 if state.failed else 0  # the same command goes on


def _limits(given: argparse.Namespace, planned: Mapping[str, str]) -> list[str]:
    """Returns the options of how much may be lost; where one was not given, that of `planned`."""
    values = {name: getattr(given, name) or planned.get(name) for name in _LIMITS}
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value]


def _remove_parts_of_other_plans(folder: Folder, is_asked: bool) -> None:
    others = folder.of_other_plans()
    if others and not is_asked:
        raise MismatchError(
            f"{others[0].parent} holds {counted(len(others), 'part', 'parts')} of another plan, {others[0].name} among "
            "them: name another OUT, or give --overwrite, with the plan's options, to remove them"
        )
    for part in others:
        folder.discard(part)


def _build_missing(ray: Any, given: argparse.Namespace, folder: Folder, missing: list[int], view: View) -> None:
    builds = Builds(
        ray,
        str(folder.path),
        given.cpus_per_part,
        given.gpus_per_part,
        given.memory,
        _limits(given, {}),
        given.scratch,
    )
    if builds.slot_count() == 0:
        print(
            f"{PROGRAM}: no node of the cluster has what a part needs; parts wait for such a node "
            f"(--cpus-per-part {given.cpus_per_part}, --gpus-per-part {given.gpus_per_part:g})",
            file=sys.stderr,
        )

    def done(part: int) -> None:
        view.totals.add(part, folder.part(part))

    _run(Schedule(folder, builds, view.state, Pace(), done, runs_twice=True), missing, view)
    builds.collect_local()


def _add_column(ray: Any, given: argparse.Namespace, folder: Folder, column: Column, view: View) -> None:
    """Adds the column to all parts; a part that has it costs nothing."""
    empty = set(view.totals.empty_parts)
    filled = [part for part in range(1, view.state.part_count + 1) if part not in empty]
    state = State(view.state.part_count, failed=view.state.failed)
    line = View(state, view.totals, given.quiet)

    def run(parts: Iterable[int], like: str | None) -> None:
        columns = Columns(ray, str(folder.path), column._replace(like=like), given.gpus)
        _run(Schedule(folder, columns, state, Pace(), lambda _: None, runs_twice=False), parts, line)

    run(filled, None)
    if filled and empty and not state.failed:  # no record of an empty part shows the column's form
        run(empty, str(folder.part(filled[0])))
    view.state.repeated_count += state.repeated_count


def _run(schedule: Schedule, parts: Iterable[int], view: View) -> None:
    try:
        schedule.run(parts, view.show)
    finally:
        view.clear()


def _ran(words: list[str], given: argparse.Namespace, answer: Any) -> int:
    """Runs a command of the program, which tells its own failure; returns its exit code."""
    if given.json:
        done = subprocess.run([program(), *words, "--json"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            answer.write(done.stdout)
    else:
        quiet = ["--quiet"] if given.quiet else []
        done = subprocess.run([program(), *words, *quiet], stdout=2, text=True, check=False)
    return done.returncode


def _column_of(given: argparse.Namespace) -> Column | None:
    if given.add_column is None:
        return None
    name, _, function = given.add_column.partition("=")
    module, _, attribute = function.partition(":")
    if not (name and module and attribute):
        raise InvalidArgumentError(f"--add-column needs NAME=MODULE:FUNCTION, not '{given.add_column}'")
    return Column(name, module, attribute, given.axis, given.batch, given.column_version, given.max_length)
