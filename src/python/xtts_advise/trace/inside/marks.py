"""Where steps and samples begin and end, as the frameworks' own loaders and optimizers tell."""

import sys
import threading
import time

from .counts import Counts
from .places import kind_of

now = time.monotonic
_GENERATOR = 0x20  # inspect.CO_GENERATOR
_STACKS_MAX = 6000
_EVENTS_MAX = 500
_STEPS_MAX = 5000  # whose times are kept one by one
_KINDS = {}  # code object's id -> kind of its file; the ids' objects live as long as their modules


class Loop:
    """A place that takes batches: `for batch in loader:`. A step is from one batch to the next."""

    def __init__(self, file, line, function, facts):
        self.file, self.line, self.function = file, line, function
        self.facts = facts
        self.batches = 0
        self.iterators = 0  # over which these batches came
        self.asks = (file, line, function)  # the own line that called next(), of a generator too
        self.trains = 0  # optimizer steps
        self.wait_s = 0.0
        self.step_s = 0.0
        self.steps = []  # (begin, wait, whole) in seconds
        self.lines = []  # for each of these steps: (place in the loop's function, next own place) -> seconds
        self.code = None
        self.times = {}  # key of a stack -> [wall seconds, processor seconds], between two batches
        self.counts = Counts()
        self.gaps = []  # seconds between the end of an epoch and the next one's first wait
        self.gap_times = {}  # as times, of these gaps
        self._gap = None  # (begin, thread, times so far)
        self._open = None  # (begin of the wait, end of the wait)
        self._open_lines = {}
        self._is_counting = False

    def add(self, key, place, wall, processor):
        """Time of a step; `place` is where the loop's own function stood, and the own code it called."""
        if self._open is None:
            return
        self._open_lines[place] = self._open_lines.get(place, 0.0) + wall
        _add_times(self.times, key, wall, processor)

    def add_to_gap(self, thread, key, wall, processor):
        """Time between two epochs, wherever the thread is."""
        if self._gap is not None and self._gap[1] == thread:
            _add_times(self._gap[2], key, wall, processor)

    def wait_begins(self):
        if self._is_counting:
            self.counts.end()
            self._is_counting = False
        return now()

    def wait_ends(self, began, has_batch):
        ended = now()
        if self._gap is not None:
            begin, _, times = self._gap
            self.gaps.append(began - begin)
            for key, (wall, processor) in times.items():
                _add_times(self.gap_times, key, wall, processor)
        self._gap = None if has_batch else (ended, threading.get_ident(), {})
        if self._open is not None:
            begin, wait_end = self._open
            self.step_s += began - begin
            if len(self.steps) < _STEPS_MAX:
                self.steps.append((begin, wait_end - begin, began - begin))
                self.lines.append(_at_most(began - begin, self._open_lines))
        self._open_lines = {}
        self._open = (began, ended) if has_batch else None
        if not has_batch:
            return
        self.batches += 1
        self.wait_s += ended - began
        if self.batches > 2 and self.counts.is_due():
            self._is_counting = True
            self.counts.begin()


def _at_most(seconds, lines):
    """A look stands for all the time since the one before, which may be longer than a step."""
    total = sum(lines.values())
    return lines if total <= seconds else {place: wall * seconds / total for place, wall in lines.items()}


def _add_times(all_times, key, wall, processor):
    times = all_times.get(key)
    if times is None:
        if len(all_times) >= _STACKS_MAX:
            return
        times = all_times[key] = [0.0, 0.0]
    times[0] += wall
    times[1] += processor


class Unit:
    """Samples that a data set's fetcher makes, or calls of a function within tf.data."""

    def __init__(self, name):
        self.name = name
        self.calls = 0  # fetches
        self.samples = 0
        self.seconds = 0.0
        self.counts = Counts()

    def measured(self, call, samples):
        counts = self.counts
        is_counted = self.calls > 0 and counts.is_due()  # the first imports what it needs
        if is_counted:
            counts.begin()
        began = now()
        try:
            return call()
        finally:
            self.seconds += now() - began
            if is_counted:
                counts.end(samples)
            self.calls += 1
            self.samples += samples


class Marks:
    def __init__(self):
        self.loops = {}
        self.units = {}
        self.events = {}  # name -> list of facts, such as traces of tf.function
        self.faults = []
        self.latest = None  # the loop that took the last batch
        self.function = None  # number of the tf.function that was called last

    def batches_of(self, kind, facts_of, method="__next__", is_asked=lambda: True):
        """Replaces kind.__next__, or another method, by one that marks the batches which a loop takes."""
        original = getattr(kind, method)

        def __next__(iterator, *arguments, **options):
            began = loop = None
            try:
                if is_asked():
                    loop = iterator.__dict__.get("_xtts_loop")
                    if loop is None:
                        frame = sys._getframe(1)
                        loop = iterator.__dict__["_xtts_loop"] = self.loop(frame, facts_of(iterator))
                        loop.iterators += 1
                        loop.asks = own_place(frame) or loop.asks
                    self.latest = loop
                    began = loop.wait_begins()
            except Exception as error:
                self.failed(error)
            has_batch = False
            try:
                batch = original(iterator, *arguments, **options)
                has_batch = True
                return batch
            finally:
                if began is not None:
                    loop.wait_ends(began, has_batch)

        setattr(kind, method, __next__)

    def loop(self, frame, facts, is_fallback=False):
        """The loop that asks for a batch, with `frame` the one that called next(). Generators that only
        hand batches on, such as tqdm's, are passed over."""
        user = frame
        while user is not None and (kind_of_frame(user) != "own" or user.f_code.co_flags & _GENERATOR):
            user = user.f_back
        user = user or frame
        key = (id(user.f_code), facts.get("data"))
        found = self.loops.get(key)
        if found is None:
            found = Loop(user.f_code.co_filename, user.f_lineno, user.f_code.co_name, facts)
            found.code = user.f_code
            self.loops[key] = found
        if not is_fallback:
            self.latest = found
        return found

    def trained(self):
        if self.latest is not None:
            self.latest.trains += 1

    def unit(self, name):
        found = self.units.get(name)
        if found is None:
            found = self.units[name] = Unit(name)
        return found

    def event(self, name, facts_of):
        """Notes the facts that a function returns."""
        try:
            rows = self.events.setdefault(name, [])
            if len(rows) < _EVENTS_MAX:
                rows.append(facts_of())
        except Exception as error:
            self.failed(error)

    def failed(self, error):
        """A fault of the recording, which the trainer must not feel."""
        if len(self.faults) < 20:
            self.faults.append(repr(error)[:200])


def own_place(frame):
    """The trainer's line that called, or nothing."""
    while frame is not None and kind_of_frame(frame) != "own":
        frame = frame.f_back
    return frame and (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def kind_of_frame(frame):
    code = frame.f_code
    kind = _KINDS.get(id(code))
    if kind is None:
        kind = _KINDS[id(code)] = kind_of(code.co_filename)
    return kind
