"""A few steps under TensorFlow's own profiler. What a compiled step does, no frame of Python shows: its
operations, and where it takes its batch by itself, as Keras's does, the wait for it."""

import os
import re
import time

from . import FOLDER

_FIRST_STEP = 8
_STEPS, _STEPS_WITH_WAIT = 5, 20  # waits differ more than operations do
_SECONDS = 10.0
_OPTIONS = {"host_tracer_level": 1, "device_tracer_level": 0, "python_tracer_level": 0}


class Profile:
    def __init__(self, module, context, marks):
        self._marks, self._context = marks, context
        self._new_session = module.ProfilerSession
        self._session = None
        self._is_over = False
        self._scopes = {}  # number of a tf.function -> outermost scopes of its operations
        self._called = set()  # numbers of those that were called while the profiler ran
        module.ProfilerSession = self._session_of_trainer

    def _session_of_trainer(self, *arguments):
        """There can be one session at a time."""
        self._end()
        return self._new_session(*arguments)

    def traced(self, function, graph):
        try:
            scopes = {re.sub(r"_\d+$", "", one.name.partition("/")[0]) for one in graph.get_operations()}
            self._scopes.setdefault(function, set()).update(scopes)
        except Exception as error:
            self._marks.failed(error)

    def step(self, loop, function, takes_batch):
        """At the begin of a call of a tf.function."""
        if self._is_over:
            return
        if self._session is None:
            if loop.batches == _FIRST_STEP and (takes_batch or self._tells_parts(function)):
                self._last = _FIRST_STEP + (_STEPS_WITH_WAIT if takes_batch else _STEPS)
                self._begin(loop)
        elif loop is self._loop and (loop.batches >= self._last or time.monotonic() > self._began + _SECONDS):
            self._end()
        self._called.add(function)

    def has_gradients(self, function):
        return any(scope.startswith("gradient") for scope in self._scopes.get(function, ()))

    def _tells_parts(self, function):
        """On a GPU, operations run later than they are asked for."""
        return self.has_gradients(function) and self._context.num_gpus() == 0

    def _begin(self, loop):
        self._called.clear()
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
        scopes = set()
        if any(map(self._tells_parts, self._called)):
            scopes = scopes.union(*(self._scopes.get(number, ()) for number in self._called))
        try:
            with open(os.path.join(os.environ[FOLDER], name), "wb") as file:
                file.write(session.stop())
        except Exception as error:
            self._marks.failed(error)
            return
        self._marks.event(
            "profile", lambda: {"file": name, "began": self._began, "ended": ended, "scopes": sorted(scopes)}
        )
