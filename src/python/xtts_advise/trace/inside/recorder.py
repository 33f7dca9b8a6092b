"""One process's recording: a thread that samples, marks that count, a file that is written anew."""

import _thread
import atexit
import os
import sys
import threading
import time

from . import in_tensorflow, in_torch
from .clocks import Clocks
from .counts import Counts
from .marks import Marks
from .modes import modes
from .stacks import Stacks
from .writing import write

_TICK_S = 0.008
_IDLE_S = 0.05  # before the first batch
_COST_SHARE = 0.015  # of the process's time; above it, samples are rarer
_LOOKS = 32  # ticks between two looks at what is set
_BLOCKED_S = 50e-6  # a thread that used less processor time since the last tick stood still


class Recorder:
    def __init__(self, folder):
        self.folder = folder
        self._runs = False
        self.parent = None
        self.clocks = Clocks()

    def begin(self):
        self._reset()
        os.register_at_fork(after_in_child=self._begin_in_child)
        atexit.register(self.finish)
        self._start()

    def _reset(self):
        self.stacks = Stacks()
        self.marks = Marks()
        self.clocks.close()
        self.writing = _thread.allocate_lock()
        self.began = time.monotonic()
        self.cost_s = 0.0
        self.modes = set()
        self._threads = {}  # ident -> (innermost place, key)
        self._loop_places = {}  # (key, code) -> place in the loop's function, and next own place

    def _begin_in_child(self):
        self.parent = os.getppid()
        if isinstance(getattr(sys.getprofile(), "__self__", None), Counts):
            sys.setprofile(None)
        marks = self.marks
        self._reset()
        # The replaced methods of the frameworks hold the parent's marks.
        marks.__dict__.update(self.marks.__dict__)
        self.marks = marks
        # multiprocessing ends a child by os._exit(), which runs no atexit.
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.register_after_fork(self, _finish_with_child)
        self._start()

    def _start(self):
        self._runs = True
        self._installed = getattr(self, "_installed", set())
        _thread.start_new_thread(self._run, (os.getpid(),))

    def _run(self, process):
        me = _thread.get_ident()
        last = time.monotonic()
        next_write = last + 2.0
        pause, ticks = _TICK_S, 0
        while self._runs and os.getpid() == process:
            time.sleep(pause)
            at, used = time.monotonic(), time.thread_time()
            self._tick(me, at, at - last)
            last = at
            if len(self._installed) < 2:
                self._install()
            ticks += 1
            if ticks % _LOOKS == 0:
                self._look()
            if at >= next_write:
                write(self)
                next_write = at + max(2.0, 0.4 * (at - self.began))
            self.cost_s += time.thread_time() - used
            is_waited_for = self.marks.loops or self.marks.units or self.parent
            is_dear = self.cost_s > _COST_SHARE * time.process_time()
            pause = _IDLE_S if is_dear or not is_waited_for else _TICK_S

    def _install(self):
        for name, module in (("torch", in_torch), ("tensorflow", in_tensorflow)):
            if name in self._installed or name not in sys.modules:
                continue
            if module.install(self.marks):
                self._installed.add(name)

    def _look(self):
        try:
            self.modes.update(modes())
        except Exception as error:
            self.marks.failed(error)

    def _tick(self, me, at, passed):
        stacks = self.stacks
        for ident, frame in sys._current_frames().items():
            if ident == me:
                continue
            known = threading._active.get(ident)
            used, queued = self.clocks.passed(ident, known.native_id) if known is not None else (None, 0.0)
            before = self._threads.get(ident)
            place = stacks.place(frame)
            if before is not None and used is not None and used < _BLOCKED_S and before[0] == place:
                key = before[1]
            else:
                key = stacks.key_of(frame)
            self._threads[ident] = (place, key)
            name = known.name if known is not None else "a thread of C++"
            # A thread that waits for a processor computes, if more slowly.
            busy = passed if used is None else min(used + queued, passed)
            stacks.add(name, key, passed, busy)
            self._add_to_steps(ident, key, passed, busy)

    def _add_to_steps(self, thread, key, wall, busy):
        for loop in list(self.marks.loops.values()):
            code = id(loop.code)
            place = self._loop_places.get((key, code), -1)
            if place == -1:
                place = self.stacks.place_in(key, code)
                if len(self._loop_places) < 50000:
                    self._loop_places[key, code] = place
            loop.add(thread, key, place, wall, busy)

    def finish(self):
        if self._runs:
            self._runs = False
            write(self)


def _finish_with_child(recorder):
    from multiprocessing import util

    util.Finalize(None, recorder.finish, exitpriority=-100)
