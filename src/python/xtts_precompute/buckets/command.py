"""`python -m xtts_precompute.buckets`: publishes a cache, and copies a published one."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .._base.commands import run_command, stdout_alone
from .._base.errors import InvalidArgumentError
from .fetch import fetch
from .publish import publish

PROGRAM = "xtts_precompute.buckets"
_EXAMPLES = """examples:
  python -m xtts_precompute.buckets publish ./cache s3://bucket/cache
  python -m xtts_precompute.buckets fetch s3://bucket/cache /nvme/xtts --size 200GB
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stdout_alone() as answer:
        return run_command(PROGRAM, lambda: _run(_parsed(words), answer), answer if "--json" in words else None)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidArgumentError(f"{message}\npython -m {PROGRAM} --help says more")


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog=f"python -m {PROGRAM}",
        description="Caches and sets in object stores.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    one = commands.add_parser("publish", help="copy a cache or a set to a bucket")
    one.add_argument("path", metavar="CACHE", help="a cache, or a set whose caches lie in its folder")
    one.add_argument("url", metavar="URL", help="a folder of a bucket: s3://bucket/cache")
    one.add_argument("--replace", action="store_true", help="in place of what is no earlier generation of it")
    one.set_defaults(work=_publish)
    two = commands.add_parser("fetch", help="copy a published cache or set to this machine")
    two.add_argument("url", metavar="URL", help="as `publish` had it")
    two.add_argument("local", metavar="DIR", help="as local= of xp.open() has it")
    two.add_argument("--size", metavar="SIZE", help="the bytes that DIR may hold, such as 200GB")
    two.set_defaults(work=_fetch)
    for each in (one, two):
        each.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
        each.add_argument("-q", "--quiet", action="store_true", help="errors only on stderr")
    return parser.parse_args(words)


def _run(given: argparse.Namespace, answer: Any) -> None:
    document, sentence = given.work(given, _progress(given.quiet))
    if given.json:
        print(json.dumps(document, indent=2), file=answer)
    else:
        print(sentence, file=answer)


def _publish(given: argparse.Namespace, progress: Callable[[int, int], None]) -> tuple[dict[str, Any], str]:
    done = publish(given.path, given.url, replace=given.replace, progress=progress)
    sentence = (
        f"{given.url}: {done.files:,} files, {done.bytes:,} bytes; {done.uploaded_files:,} of them uploaded, "
        f"{done.uploaded_bytes:,} bytes"
    )
    return {"url": given.url, **done._asdict()}, sentence


def _fetch(given: argparse.Namespace, progress: Callable[[int, int], None]) -> tuple[dict[str, Any], str]:
    path = fetch(given.url, given.local, size=given.size, progress=progress)
    return {"url": given.url, "path": path}, path


def _progress(is_quiet: bool) -> Callable[[int, int], None]:
    """Returns a function that draws a line on a terminal, twice a second."""
    last = [0.0]

    def show(done_bytes: int, total_bytes: int) -> None:
        now = time.monotonic()
        if now - last[0] >= 0.5 or done_bytes == total_bytes:
            last[0] = now
            end = "\n" if done_bytes == total_bytes else "\r"
            print(f"{done_bytes / 1e6:,.0f} of {total_bytes / 1e6:,.0f} MB", end=end, file=sys.stderr, flush=True)

    return show if sys.stderr.isatty() and not is_quiet else lambda done_bytes, total_bytes: None
