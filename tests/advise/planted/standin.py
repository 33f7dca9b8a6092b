"""A stand-in for a GPU: a queue that "computes" while the trainer's thread goes on, and calls that wait for it.

PyTorch and TensorFlow on a CPU return from a step when it is computed. On a GPU they return at once, and the first
call that needs a value waits: `.item()`, `if tensor:`, `.numpy()`, `torch.cuda.empty_cache()`. Here the model
computes on the CPU as ever, and `launch(seconds)` adds work to the queue. Those calls then wait in C for the
queue's end, without the GIL and without a frame of Python, as they would for a GPU. What they return is true.
"""

import ctypes
import functools
import time

CLOCK_MONOTONIC, TIMER_ABSTIME = 1, 1
AHEAD_S = 0.2  # a launch waits where the queue is that long: a GPU's queue has an end, too


class Moment(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class Queue:
    def __init__(self):
        self.end_s = time.monotonic()
        self._end = Moment()
        self._sleep = ctypes.CDLL(None).clock_nanosleep
        self._arguments = (CLOCK_MONOTONIC, TIMER_ABSTIME, ctypes.byref(self._end), None)
        self.wait = functools.partial(self._sleep, *self._arguments)

    def launch(self, seconds):
        """Adds work. Waits only where the queue is full."""
        now_s = time.monotonic()
        self.end_s = max(now_s, self.end_s) + seconds
        if self.end_s - now_s > AHEAD_S:
            self.wait_until_room()
        self._end.seconds, self._end.nanoseconds = int(self.end_s), int(self.end_s % 1 * 1e9)

    def wait_until_room(self):
        room_s = self.end_s - AHEAD_S
        room = Moment(int(room_s), int(room_s % 1 * 1e9))
        self._sleep(CLOCK_MONOTONIC, TIMER_ABSTIME, ctypes.byref(room), None)

    def waiting(self, method):
        """Returns the method, which now waits for the queue first."""
        return WaitingMethod(self, method)


class WaitingMethod:
    """A method whose call is C's clock_nanosleep; then ctypes hands over the real method's value."""

    def __init__(self, queue, method):
        self._method = method
        self._sleep = ctypes.CDLL(None).clock_nanosleep
        self._sleep.errcheck = lambda result, function, arguments: method(arguments[-1].value)
        self._arguments = queue._arguments

    def __get__(self, instance, owner=None):
        if instance is None:
            return self._method
        # clock_nanosleep takes four arguments; the fifth is for `errcheck` alone.
        return functools.partial(self._sleep, *self._arguments, ctypes.py_object(instance))


def for_torch():
    """Makes torch wait for a queue, and returns the queue."""
    import torch

    queue = Queue()
    for name in ("item", "__bool__", "__float__", "__int__", "cpu"):
        setattr(torch.Tensor, name, queue.waiting(getattr(torch.Tensor, name)))
    torch.cuda.memory.is_initialized = lambda: True
    torch._C._cuda_emptyCache = queue.wait
    return queue


def for_tensorflow():
    """Makes eager TensorFlow wait for a queue, and returns the queue."""
    import tensorflow as tf

    queue = Queue()
    eager = type(tf.constant(0))
    owner = next(base for base in eager.__mro__ if "_numpy" in vars(base))
    try:
        owner._numpy = queue.waiting(owner._numpy)
    except TypeError:  # a class of C cannot be changed: its Python base calls it
        base = next(base for base in eager.__mro__ if "numpy" in vars(base))
        real = owner._numpy_internal
        base._numpy = queue.waiting(lambda tensor: real(tensor))
    return queue
