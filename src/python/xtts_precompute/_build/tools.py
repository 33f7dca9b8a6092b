"""The compiled builder and the bundled program, and what to say where they are missing."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import shlex
import sys
import time
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from .._base.errors import UnsupportedError
from .._base.nvidia_libraries import name_folders

PACKAGES = (
    "g++ pkg-config libavformat-dev libavcodec-dev libavutil-dev libsoxr-dev libfftw3-dev liblmdb-dev libhdf5-dev "
    "libyaml-cpp-dev libcli11-dev zlib1g-dev libfmt-dev libxxhash-dev nlohmann-json3-dev python3-dev"
)
PROGRAM = Path(__file__).parent.with_name("xtts-precompute")
_WAIT_AT_EXIT_S = 10.0  # for builds in daemon threads

_core: ModuleType | None = None


def core() -> ModuleType:
    """Returns the compiled builder, _builder; loads it at the first call."""
    global _core
    if _core is None:
        if importlib.util.find_spec("xtts_precompute._builder") is None:
            raise UnsupportedError(
                f"this installation of xtts_precompute is the reader alone and cannot build.\n{how_to_get_it()}"
            )
        try:
            _core = importlib.import_module("xtts_precompute._builder")
        except ImportError as error:  # a library is missing, or has another version
            raise UnsupportedError(
                f"the builder of xtts_precompute cannot be loaded: {error}.\n{how_to_get_it()}"
            ) from error
        name_folders()
        if sys.executable:
            os.environ.setdefault("XTTS_PYTHON", sys.executable)  # whose pyarrow reads Parquet and Arrow
        atexit.register(_stop_all, os.getpid())
    return _core


def program() -> Path:
    """Returns the path of the bundled command line."""
    if not PROGRAM.is_file():
        raise UnsupportedError(
            f"this installation of xtts_precompute is the reader alone, without its program.\n{how_to_get_it()}"
        )
    return PROGRAM


def how_to_get_it() -> str:
    """Returns two commands: one installs what the tools need, the other installs this package anew."""
    return (
        f"As root: apt-get install {PACKAGES}\n"
        f"then: {shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps --no-cache-dir "
        "--no-binary xtts-precompute "
        f"--config-settings=cmake.define.XTTS_BUILD_TOOLS=ON {shlex.quote(_origin())}"
    )


def _origin() -> str:
    """Returns what was installed: a folder, an archive, or the package's name."""
    import importlib.metadata

    try:
        said = importlib.metadata.distribution("xtts-precompute").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        said = None
    url = urlsplit(json.loads(said)["url"]) if said else None
    if url is None:
        return "xtts-precompute"
    return unquote(url.path) if url.scheme == "file" else url.geturl()


def _stop_all(pid: int) -> None:
    """Ends builds in daemon threads while what they use still exists; they finish the clips in hand."""
    if _core is None or pid != os.getpid():  # a forked child does not have these threads
        return
    _core.stop_all()
    until = time.monotonic() + _WAIT_AT_EXIT_S
    while _core.running_count() > 0 and time.monotonic() < until:
        time.sleep(0.001)
    _core.stay_inside()
    while _core.count_outside() > 0 and time.monotonic() < until:
        time.sleep(0.001)
