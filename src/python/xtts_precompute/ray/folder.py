"""The folder OUT: which parts are published, who builds the others, and what is left to collect.

    OUT/plan              what `xtts-precompute plan` has made of DATA
    OUT/parts/0007        a published part: a whole cache
    OUT/set.json          all parts as one, once they are there
    OUT/scratch/0007.1-PLAN  the cache that attempt 1 at part 7 builds; attempt 2 has another, and so
                          has each plan, since a builder goes on with nothing of another plan
    OUT/scratch/0007.1.log  what its builder says on stderr; it is locked while the attempt lives

This is all the state of a run. A driver that starts again reads it, and goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from .._base.errors import NotFoundError

_TAIL_BYTES = 4096  # holds the last line of progress


class Progress(NamedTuple):
    """The last line of progress that a builder has written."""

    done: int = 0
    total: int = 0
    realtime_factor: float = 0.0


class Folder:
    """One OUT. Drivers and attempts on any machine may use it at the same time."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.plan = self.path / "plan"
        self._parts = self.path / "parts"
        self._scratch = self.path / "scratch"

    def begin(self) -> None:
        self._parts.mkdir(parents=True, exist_ok=True)
        self._scratch.mkdir(exist_ok=True)

    def known_plan(self) -> dict[str, Any] | None:
        """Returns plan.json; None: there is no plan."""
        try:
            return dict(json.loads((self.plan / "plan.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def part_count(self) -> int | None:
        """Returns the number of parts of the plan; None: there is no plan."""
        plan = self.known_plan()
        return None if plan is None else len(plan["parts"])

    @functools.cached_property
    def plan_id(self) -> str:
        """What the parts of the plan have in common: clips, their number, recipe and numerics."""
        plan = self.known_plan()
        if plan is None:
            raise NotFoundError(f"there is no plan in {self.plan}")
        return _id_of(plan["plan"], len(plan["parts"]), plan)

    def planned(self, number: int) -> Path:
        """Returns the file of the plan that a part is built from."""
        return self.plan / f"{number:04}"

    def part(self, number: int) -> Path:
        return self._parts / f"{number:04}"

    def scratch(self, number: int, attempt: int) -> Path:
        return self._scratch / f"{number:04}.{attempt}-{self.plan_id}"

    def _log(self, number: int, attempt: int) -> Path:
        return self._scratch / f"{number:04}.{attempt}.log"

    def is_published(self, number: int) -> bool:
        """Whether the part is in its place, as the plan wants it."""
        try:
            manifest = json.loads((self.part(number) / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return False
        part = manifest["partition"]
        return part is not None and (part["index"], _id_of(part["plan"], part["count"], manifest)) == (
            number,
            self.plan_id,
        )

    def of_other_plans(self) -> list[Path]:
        """Returns the caches that are in a part's place and are no parts of the plan."""
        return [
            path
            for path in sorted(self._parts.iterdir())
            if path.name.isdigit() and (path / "manifest.json").exists() and not self.is_published(int(path.name))
        ]

    def discard(self, part: Path) -> None:
        """Removes a part. Its place is free at once: half a part there would be in the way for ever."""
        discarded = self._scratch / f"{part.name}.discarded"
        remove(discarded)
        part.rename(discarded)
        remove(discarded)

    @contextlib.contextmanager
    def claim(self, number: int, attempt: int, token: str) -> Iterator[IO[str] | None]:
        """Yields the attempt's log, begun anew; None: somebody else is still at work there."""
        with self.hold(number, attempt) as log:
            if log is not None:
                log.truncate(0)
                print(token, file=log, flush=True)
            yield log

    @contextlib.contextmanager
    def hold(self, number: int, attempt: int) -> Iterator[IO[str] | None]:
        """Yields the attempt's log, whose lock keeps others out; None: somebody is at work there.

        The builder's own lock ends with the build. This one lasts until the part is published, so
        that no other builder begins in a folder that is about to move.
        """
        if not self._scratch.is_dir():
            raise NotFoundError(
                f"{os.uname().nodename} does not see {self._scratch}: OUT must be a folder that all nodes share, "
                "with the same path"
            )
        with open(self._log(number, attempt), "a", encoding="utf-8") as log:
            try:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            yield log

    def publish(self, number: int, built: Path) -> bool:
        """Moves a finished cache to its place; False: another attempt was first.

        rename() replaces no folder that holds something, and a published part always does. So one
        attempt alone wins, on network file systems, too, whose servers know no
        RENAME_NOREPLACE. An empty folder is nobody's part.
        """
        try:
            built.rename(self.part(number))
        except OSError:
            if not self.is_published(number):
                raise
            return False
        _sync(self._parts)
        return True

    def copied(self, number: int, attempt: int, built: Path) -> Path:
        """Copies a finished cache from another disk, for publish(). All of the copy is on its disk then.

        The copy is no scratch: half of one has a manifest perhaps, and a builder would take it for done.
        """
        copy = self._scratch / f"{number:04}.{attempt}.copy"
        remove(copy)
        shutil.copytree(built, copy)
        for folder, _, files in os.walk(copy):
            for name in files:
                _sync(Path(folder, name))
            _sync(Path(folder))
        return copy

    def progress(self, number: int, attempt: int, token: str) -> Progress | None:
        """Reads the builder's last line of progress. None: the attempt has not begun."""
        try:
            with open(self._log(number, attempt), "rb") as log:
                if log.readline().decode().rstrip("\n") != token:
                    return None
                log.seek(max(log.tell(), os.fstat(log.fileno()).st_size - _TAIL_BYTES))
                tail = log.read().decode(errors="replace")
        except FileNotFoundError:
            return None
        lines = re.findall(r"^\d+%, ([\d,]+)/([\d,]+)(.*)$", tail, re.MULTILINE)
        if not lines:
            return Progress()
        done, total, figures = lines[-1]
        factor = re.search(r"([\d.,e-]+)x real time", figures)
        return Progress(_number(done), _number(total), float(factor[1].replace(",", "")) if factor else 0.0)

    def collect(self, number: int) -> None:
        """Removes what attempts at this part have left. None of them may be at work."""
        for path in self._scratch.glob(f"{number:04}.*"):
            remove(path)

    def end(self) -> None:
        """Removes the scratch of a run whose parts are all published."""
        remove(self._scratch)


def remove(path: Path) -> None:
    """Removes a file or a folder. A builder that is ending may still add files to it."""
    for wait_s in (0.0, 0.2, 1.0, 5.0):
        time.sleep(wait_s)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True) if not path.is_dir() else shutil.rmtree(path)
        if not path.exists():
            return
    shutil.rmtree(path)  # raises the reason


def _id_of(plan: str, part_count: int, has_recipe: dict[str, Any]) -> str:
    # The plan's own digest is of the clips alone.
    common = [plan, part_count, has_recipe["recipe"], has_recipe["numerics"]]
    return hashlib.sha256(json.dumps(common, sort_keys=True).encode()).hexdigest()[:16]


def _sync(path: Path) -> None:
    """Returns when a file's bytes, or a folder's entries, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _number(word: str) -> int:
    return int(word.replace(",", ""))
