"""Which file a piece of code is from: the trainer's own, a library, or this recording."""

import os
import sysconfig

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")}
    | {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")}
)
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def kind_of(file):
    """Returns "own", "library", "standard" or "trace"."""
    if file.startswith(_HERE):
        return "trace"
    # TensorFlow writes a copy of a tf.function into a temporary file: the line that calls it tells more.
    if any(part in file for part in _INSTALLED) or os.path.basename(file).startswith("__autograph_generated_file"):
        return "library"
    if file.startswith("<") or file.startswith(_STANDARD):
        return "standard"
    return "own"
