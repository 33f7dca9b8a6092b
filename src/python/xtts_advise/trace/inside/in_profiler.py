"""A few steps under TensorFlow's own profiler. A compiled step that takes its batch by itself, as
Keras's does, waits where no frame of Python shows it."""

import os
import time

from . import FOLDER

_FIRST_STEP = 8
_STEPS = 20
_SECONDS = 10.0
_OPTIONS = {"host_tracer_level": 1, "device_tracer_level": 0, "python_tracer_level": 0}


class Profile:
    def __init__(self, module, marks):
        self._marks = marks
        self._new_session = module.ProfilerSession
        self._session = None
        self._is_over = False
        module.ProfilerSession = self._session_of_trainer

    def _session_of_trainer(self, *arguments):
        """There can be one session at a time."""
        self._end()
        return self._new_session(*arguments)

    def step(self, loop):
        """At the begin of a step that takes its batches by itself."""
        if self._is_over:
            return
        if self._session is None:
            if loop.batches == _FIRST_STEP:
                self._begin(loop)
        elif loop is self._loop and (loop.batches >= _FIRST_STEP + _STEPS or time.monotonic() > self._began + _SECONDS):
            self._end()

    def _begin(self, loop):
        self._loop, self._began = loop, time.monotonic()
        self._session = self._new_session()
        try:
            self._session.start("", dict(_OPTIONS))
        except Exception:  # another session runs
            self._session, self._is_over = None, True

    def _end(self):
        session, self._session, self._is_over = self._session, None, True
        if session is None:
            return
        ended = time.monotonic()
        name = f"{os.getpid()}.profile"
        try:
            with open(os.path.join(os.environ[FOLDER], name), "wb") as file:
                file.write(session.stop())
        except Exception as error:
            self._marks.failed(error)
            return
        self._marks.event("profile", lambda: {"file": name, "began": self._began, "ended": ended})
