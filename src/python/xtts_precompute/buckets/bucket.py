"""One folder of an object store: whole small objects, downloads in ranges, uploads, conditional writes.

A call that fails for a reason that may pass (a refused connection, a stall, a cut body, "503 Slow
Down") is tried again, a little later each time, for half a minute. After that it is a
SourceIoError. What does not pass is told at once: NotFoundError; MismatchError (the object is
another one now); UnsupportedError (the store cannot do this); SourceIoError (no credentials, or not
any more). Any number of threads may use a Bucket.
"""

from __future__ import annotations

import datetime
import functools
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .._base.errors import (
    CorruptError,
    Error,
    InvalidArgumentError,
    MismatchError,
    NotFoundError,
    SourceIoError,
    UnsupportedError,
)
from .layout import MANIFEST, SET
from .packages import package

# A request that moves so many bytes ends within a minute at 0.3 MB/s, and costs a bucket little
# beside them.
RANGE_BYTES = 16 << 20
_ATTEMPTS = 9
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 8.0
_STALL = datetime.timedelta(seconds=60)
_ROOT_BYTES_MAX = 256 << 20  # as the C++ reader has it

Found = TypeVar("Found")


class _RefusedError(SourceIoError):
    """The store does not take the credentials, or they do not allow this."""


class Bucket:
    """The folder that a URL names. Keys are relative to it."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._obstore = package("obstore")
        self._errors = package("obstore.exceptions")
        try:
            self._store = package("obstore.store").from_url(
                self.url,
                client_options={"timeout": _STALL, "connect_timeout": _STALL, "allow_http": _allows_http(self.url)},
                retry_config={"max_retries": 0},  # _tried() does it, for bodies too
                **({"mkdir": True} if self.url.startswith("file:") else {}),
            )
        except (self._errors.BaseError, OSError, ValueError) as error:
            raise InvalidArgumentError(f"{url} cannot be used: {_first_line(error)}") from None

    def __str__(self) -> str:
        return self.url

    def read_root(self) -> tuple[str, bytes, dict[str, Any]]:
        """Returns name, text and version of the manifest.json or set.json."""
        try:
            return MANIFEST, *self.read(MANIFEST)
        except (NotFoundError, _RefusedError) as error:
            # Where S3 does not let us list, it also refuses what is not there.
            try:
                return SET, *self.read(SET)
            except NotFoundError:
                if isinstance(error, _RefusedError):
                    raise error from None
                raise NotFoundError(f"there is no cache and no set at {self.url}") from None

    def read(self, key: str) -> tuple[bytes, dict[str, Any]]:
        """Returns a small object, and what names this version of it."""

        def get() -> tuple[bytes, dict[str, Any]]:
            found = self._obstore.get(self._store, key)
            if found.meta["size"] > _ROOT_BYTES_MAX:
                raise CorruptError(f"{self.url}/{key} has {found.meta['size']:,} bytes")
            version = {name: found.meta[name] for name in ("e_tag", "version") if found.meta[name] is not None}
            return bytes(found.bytes()), version

        return self._tried(key, get)

    def size_bytes(self, key: str) -> int | None:
        """Returns the size of an object; None: it is not there."""
        try:
            size: int = self._tried(key, lambda: self._obstore.head(self._store, key)["size"])
        except NotFoundError:
            return None
        return size

    def download(self, key: str, path: Path, size_bytes: int) -> None:
        """Copies an object to a file and syncs it. All bytes are of one version of the object."""
        e_tag: str | None = None
        with open(path, "wb") as file:
            for begin in range(0, size_bytes, RANGE_BYTES):
                options: dict[str, Any] = {"range": (begin, min(begin + RANGE_BYTES, size_bytes))}
                if e_tag is not None:
                    options["if_match"] = e_tag
                data, meta = self._tried(key, functools.partial(self._range, key, options))
                if meta["size"] != size_bytes:
                    raise CorruptError(f"{self.url}/{key} has {meta['size']:,} bytes, the manifest says {size_bytes:,}")
                # A weak tag is no condition (RFC 9110, 13.1.1). The checks find what changes then.
                e_tag = None if (meta["e_tag"] or "W/").startswith("W/") else meta["e_tag"]
                file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _range(self, key: str, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        found = self._obstore.get(self._store, key, options=options)
        data = found.bytes()
        begin, end = options["range"]
        if len(data) != end - begin or tuple(found.range) != (begin, end):
            raise self._errors.GenericError(f"{len(data):,} bytes came of {end - begin:,}")
        return data, found.meta

    def upload(self, key: str, path: Path) -> None:
        """Copies a file to an object. The object is there whole, or not at all."""
        self._tried(key, lambda: self._obstore.put(self._store, key, path, mode="overwrite"))

    def replace(self, key: str, text: bytes, version: dict[str, Any] | None) -> None:
        """Writes an object if it still has this version; None: if it is not there.

        Raises MismatchError if it has another one: somebody else was faster.
        """
        mode = "create" if version is None else version
        try:
            self._tried(key, lambda: self._obstore.put(self._store, key, text, mode=mode, use_multipart=False))
        except MismatchError:
            # The store may have taken an earlier attempt, whose answer was lost.
            if self.read(key)[0] != text:
                raise

    def _tried(self, key: str, call: Callable[[], Found]) -> Found:
        for attempt in range(_ATTEMPTS):
            try:
                return call()
            except (self._errors.BaseError, OSError, NotImplementedError) as error:
                lasting = self._lasting(key, error)
                if lasting is not None:
                    raise lasting from None
                last = _first_line(error)
            if attempt + 1 < _ATTEMPTS:
                time.sleep(min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt) * random.uniform(0.5, 1))
        raise SourceIoError(f"{self.url}/{key}: {_ATTEMPTS} attempts failed, the last one with: {last}")

    def _lasting(self, key: str, error: Exception) -> Error | None:
        """Returns what a failure is that another attempt would meet again; None: it may pass."""
        kinds, name = self._errors, f"{self.url}/{key}"
        if isinstance(error, (kinds.NotFoundError, FileNotFoundError)):
            return NotFoundError(f"{name} is not there")
        if isinstance(error, (kinds.PreconditionError, kinds.AlreadyExistsError, FileExistsError)):
            return MismatchError(f"{name} has been written anew meanwhile")
        if isinstance(error, (kinds.PermissionDeniedError, kinds.UnauthenticatedError)):
            return _RefusedError(f"{name}: the store refuses these credentials: {_first_line(error)}")
        if isinstance(error, (kinds.NotSupportedError, NotImplementedError)):
            return UnsupportedError(f"{name}: this store cannot do it: {_first_line(error)}")
        if isinstance(error, (kinds.InvalidPathError, kinds.UnknownConfigurationKeyError)):
            return InvalidArgumentError(f"{name}: {_first_line(error)}")
        return None


def _allows_http(url: str) -> bool:
    """Does what obstore does by itself only where it gets no options of ours."""
    names = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
    return url.startswith("http://") or any(os.environ.get(name, "").lower() in ("1", "true") for name in names)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
