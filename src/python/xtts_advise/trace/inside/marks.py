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
    """A place that takes batches: `for batch in loader:`. A step is from one batch to the next.

    Not every loop asks on after its last batch (Lightning's counts batches). Its last step then ends with the
    optimizer's, or when another loop takes a batch: `_after` is what passes since, until it is known which.
    """

    def __init__(self, file, line, function, facts, through=()):
        self.file, self.line, self.function = file, line, function
        self.facts = facts
        self.through = [(code.co_filename, code.co_name) for code in through]  # from next() to this function
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
        self._gap = None
        self._open = None
        self._after = None
        self._taken = 0  # batches of the iterator that gives them now
        self._is_counting = False

    def add(self, thread, key, place, wall, processor):
        """Time that passes in a thread; `place` is where the loop's own function stood, and the own code it called."""
        gap, after, step = self._gap, self._after, self._open
        for one in (gap, after):
            if one is not None and one.thread == thread:
                _add_times(one.times, key, wall, processor)
        if step is not None and place is not None:
            (step if after is None else after).add(key, place, wall, processor)

    def may_end(self, has_trained):
        """Whatever passes from now on may be no part of the step."""
        step, after = self._open, self._after
        if step is None or (after is not None and not has_trained):
            return
        if after is not None:
            step.take(after)
        step.has_trained |= has_trained
        self._after = _Gap(now())

    def wait_begins(self, is_first=False):
        if self._is_counting:
            self.counts.end()
            self._is_counting = False
        step, after = self._open, self._after
        if is_first and after is not None and (self._taken > 2 or not step.has_trained):
            self._after = None
            self._close(after.begin)
            self._gap = after
        self._taken = 0 if is_first else self._taken
        return now()

    def wait_ends(self, began, has_batch):
        ended = now()
        gap, after = self._gap, self._after
        if gap is not None and not has_batch:
            return  # the end is told once more
        if gap is not None:
            self.gaps.append(began - gap.begin)
            _add_all(self.gap_times, gap.times)
        self._gap = None if has_batch else _Gap(ended)
        self._after = None
        if self._open is not None:
            if after is not None:
                self._open.take(after)
            self._close(began)
        self._open = _Step(began, ended) if has_batch else None
        if not has_batch:
            return
        self.batches += 1
        self._taken += 1
        self.wait_s += ended - began
        if self.batches > 2 and self.counts.is_due():
            self._is_counting = True
            self.counts.begin()

    def _close(self, ended):
        step, self._open = self._open, None
        self.step_s += ended - step.begin
        if len(self.steps) < _STEPS_MAX:
            self.steps.append((step.begin, step.wait_end - step.begin, ended - step.begin))
            self.lines.append(_at_most(ended - step.begin, step.lines))
        _add_all(self.times, step.times_of_loop)


class _Step:
    def __init__(self, begin, wait_end):
        self.begin, self.wait_end = begin, wait_end
        self.has_trained = False
        self.lines = {}  # (place in the loop's function, next own place) -> seconds
        self.times_of_loop = {}

    def add(self, key, place, wall, processor):
        self.lines[place] = self.lines.get(place, 0.0) + wall
        _add_times(self.times_of_loop, key, wall, processor)

    def take(self, other):
        for place, wall in list(other.lines.items()):
            self.lines[place] = self.lines.get(place, 0.0) + wall
        _add_all(self.times_of_loop, other.times_of_loop)


class _Gap(_Step):
    """Time between two epochs, wherever the thread is. It may yet turn out to be a step's."""

    def __init__(self, begin):
        super().__init__(begin, begin)
        self.thread = threading.get_ident()
        self.times = {}


def _at_most(seconds, lines):
    """A look stands for all the time since the one before, which may be longer than a step."""
    total = sum(lines.values())
    return lines if total <= seconds else {place: wall * seconds / total for place, wall in lines.items()}


def _add_all(all_times, times):
    for key, (wall, processor) in list(times.items()):
        _add_times(all_times, key, wall, processor)


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
        self.taking = set()  # threads that wait for a batch
        self.function = None  # number of the tf.function that was called last

    def batches_of(self, kind, facts_of, method="__next__", is_asked=lambda: True, is_batch=lambda _: True):
        """Replaces kind.__next__, or another method, by one that marks the batches which a loop takes. An iterator
        that asks others for its batch, such as that of several devices, takes one."""
        original = getattr(kind, method)

        def __next__(iterator, *arguments, **options):
            began = loop = None
            thread = threading.get_ident()
            try:
                if thread not in self.taking and is_asked():
                    loop = iterator.__dict__.get("_xtts_loop")
                    # A loader of PyTorch with persistent workers begins its iterator anew.
                    is_first = loop is None or iterator.__dict__.get("_num_yielded") == 0
                    if loop is None:
                        frame = sys._getframe(1)
                        loop = iterator.__dict__["_xtts_loop"] = self.loop(frame, facts_of(iterator))
                        loop.iterators += 1
                        loop.asks = own_place(frame) or loop.asks
                    self.latest = loop
                    for other in list(self.loops.values()):
                        if other is not loop:
                            other.may_end(has_trained=False)
                    began = loop.wait_begins(is_first)
                    self.taking.add(thread)
            except Exception as error:
                self.failed(error)
            has_batch = False
            try:
                batch = original(iterator, *arguments, **options)
                has_batch = began is None or self.asked(is_batch, batch)
                return batch
            finally:
                if began is not None:
                    self.taking.discard(thread)
                    try:
                        loop.wait_ends(began, has_batch)
                    except Exception as error:
                        self.failed(error)

        setattr(kind, method, __next__)

    def asked(self, is_batch, batch):
        try:
            return is_batch(batch)
        except Exception as error:
            self.failed(error)
            return True

    def loop(self, frame, facts, is_fallback=False):
        """The loop that asks for a batch, with `frame` the one that called next(). Generators that only
        hand batches on, such as tqdm's, are passed over."""
        user = frame
        through = []  # a library's training and validation may be called by one own function
        while user is not None and (kind_of_frame(user) != "own" or user.f_code.co_flags & _GENERATOR):
            through.append(user.f_code)
            user = user.f_back
        if user is None:
            user, through = frame, []
        key = (id(user.f_code), facts.get("data"), tuple(map(id, through)))
        found = self.loops.get(key)
        if found is None:
            found = Loop(user.f_code.co_filename, user.f_lineno, user.f_code.co_name, facts, through)
            found.code = user.f_code
            self.loops[key] = found
        if not is_fallback:
            self.latest = found
        return found

    def trained(self):
        if self.latest is not None:
            self.latest.trains += 1
            self.latest.may_end(has_trained=True)

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
