"""Replaces a small file of a user's, and keeps the old one beside it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import Any

from ..words import Failure
from .tree import BYTES_MAX

_BACKUPS_MAX = 10000
# A file system without hard links, or with no more of them for this file.
_NO_LINKS = (errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS)


class Files:
    """The calls that change something: one place, so that a test can let each of them fail."""

    open, write, fsync = staticmethod(os.open), staticmethod(os.write), staticmethod(os.fsync)
    chmod, chown = staticmethod(os.chmod), staticmethod(os.chown)
    link, rename, unlink = staticmethod(os.link), staticmethod(os.rename), staticmethod(os.unlink)


def read_bytes(path: str) -> bytes:
    try:
        facts = os.stat(path)
        if not stat.S_ISREG(facts.st_mode):
            what = "a folder" if stat.S_ISDIR(facts.st_mode) else "a device or a pipe"
            raise Failure("invalid_argument", f"{path} is not a regular file but {what}")
        if facts.st_size > BYTES_MAX:
            raise Failure("invalid_argument", f"{path} has {facts.st_size} bytes; at most {BYTES_MAX} are read")
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        raise Failure("not_found", f"opening {path}: {error.strerror}") from None
    except OSError as error:
        raise Failure("resource", f"opening {path}: {error.strerror}") from None


def replace(path: str, before: bytes, after: bytes, files: Any = Files) -> str:
    """Replaces `before` by `after` at once, and returns the path of the backup.

    The backup is FILE.bak, or the first of .bak.1, .bak.2, ... that does not exist: the old file itself under another
    name, where the file system has hard links; else a copy. The new file has the owner (as far as this process may give
    it), the group and the mode of the old one. Where `path` is a link, its target is replaced. After a failure the file
    is the old one, and no backup is left.
    """
    target = os.path.realpath(path) if os.path.islink(path) else path
    if not os.access(target, os.W_OK):
        raise Failure("resource", f"{target} may not be written")
    backup = _free_backup_name(target)
    made = f"{target}.new-{secrets.randbelow(2**32)}"
    has_backup = False
    try:
        _doing(f"writing {target}", lambda: _write_new(files, made, target, after))
        try:
            if read_bytes(target) != before:
                raise Failure("resource", f"{target} was changed meanwhile: try again")
            _doing(f"keeping {target}", lambda: _keep(files, target, backup, before))
            has_backup = True
            _doing(f"replacing {target}", lambda: files.rename(made, target))
        except BaseException:
            _remove(files, made)
            raise
    except BaseException:
        if has_backup:
            _remove(files, backup)
        raise
    _sync_folder(os.path.dirname(target) or ".")
    return backup


def _doing(what: str, act: Any) -> None:
    try:
        act()
    except OSError as error:
        raise Failure("resource", f"{what}: {error.strerror}") from None


def _free_backup_name(path: str) -> str:
    # A list has links without a target, too, which stat() does not find.
    taken = set(os.listdir(os.path.dirname(path) or "."))
    for number in range(_BACKUPS_MAX):
        name = f"{path}.bak.{number}" if number else f"{path}.bak"
        if os.path.basename(name) not in taken:
            return name
    raise Failure("resource", f"there are {_BACKUPS_MAX} backups beside {path}: remove some")


def _write_new(files: Any, path: str, like: str, data: bytes) -> None:
    descriptor = files.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # The permissions come first: nobody may read the text meanwhile who may not read the old file.
        facts = os.stat(like)
        try:
            files.chown(path, facts.st_uid, facts.st_gid)
        except OSError:
            # A process that is not root may give a file to its own groups alone.
            with contextlib.suppress(OSError):
                files.chown(path, -1, facts.st_gid)
        files.chmod(path, stat.S_IMODE(facts.st_mode))
        view = memoryview(data)
        while view:
            view = view[files.write(descriptor, view) :]
        files.fsync(descriptor)
    except BaseException:
        _remove(files, path)
        raise
    finally:
        os.close(descriptor)


def _keep(files: Any, path: str, backup: str, data: bytes) -> None:
    try:
        files.link(path, backup)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _write_new(files, backup, path, data)


def _remove(files: Any, path: str) -> None:
    with contextlib.suppress(OSError):
        files.unlink(path)


def _sync_folder(path: str) -> None:
    """The new file is there, so a failure here is none of the edit's."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
