"""Where pip and conda put NVIDIA's cuFFT, which the compiled code opens when it is asked for a GPU.

The system's loader does not look there.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

SETTING = "XTTS_CUFFT"  # the environment variable that names its folders
_NAMES = ("libcufft.so.12", "libcufft.so.11")


def name_folders() -> None:
    """Names the folders of this Python's cuFFT, unless the user named some."""
    if SETTING not in os.environ and (found := folders()):
        os.environ[SETTING] = os.pathsep.join(found)


def folders() -> list[str]:
    """Returns the folders that hold it, of pip's packages (nvidia-cufft, nvidia-cufft-cu12) and of conda."""
    spec = importlib.util.find_spec("nvidia")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    candidates = [folder for place in places for folder in sorted(Path(place).glob("*/lib"))]
    candidates.append(Path(sys.prefix, "lib"))
    return [str(folder) for folder in candidates if any((folder / name).is_file() for name in _NAMES)]
