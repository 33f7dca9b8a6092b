"""What records inside the trainer's own processes. Loaded by start/sitecustomize.py."""

import os

FOLDER = "XTTS_TRACE"  # the environment variable that names the folder of the recordings


def start():
    folder = os.environ.get(FOLDER)
    if folder:
        from .recorder import Recorder

        Recorder(folder).begin()
