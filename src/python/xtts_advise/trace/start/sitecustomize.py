"""Python imports this at its start where `trace` has put its folder first on PYTHONPATH.

It starts the recording, and then runs the sitecustomize that it stands before.
"""

import os
import sys


def _start():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    packages = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    sys.path.insert(0, packages)
    try:
        from xtts_advise.trace import inside

        inside.start()
    except Exception as error:  # whatever is wrong here, the trainer runs
        sys.stderr.write(f"trace: this process is not recorded: {error!r}\n")
    finally:
        sys.path.remove(packages)


def _run_the_next():
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        sys.modules["sitecustomize"] = this
        if error.name != "sitecustomize":
            raise


_start()
_run_the_next()
