"""How long compiled steps waited for their batches, as TensorFlow's profiler recorded it (Trace)."""

from __future__ import annotations

from collections.abc import Iterator

_WAIT = b"IteratorGetNext"  # the operation that takes a batch of tf.data
_EVENTS, _NAME, _PICOSECONDS = 4, 3, 10  # numbers of fields: tsl/profiler/protobuf/trace_events.proto


def wait_in(profile: bytes) -> tuple[float, int]:
    """Seconds, and how many batches were taken."""
    seconds, batches = 0.0, 0
    for number, event in _fields(profile):
        if number != _EVENTS or not isinstance(event, bytes) or _WAIT not in event:
            continue
        facts = dict(_fields(event))
        name = facts.get(_NAME)
        if isinstance(name, bytes) and name.startswith(_WAIT):
            seconds += float(facts.get(_PICOSECONDS, 0)) * 1e-12
            batches += 1
    return seconds, batches


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer. Numbers of fixed width are passed over."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
        elif kind == 2:
            size, at = _varint(message, at)
            yield key >> 3, message[at : at + size]
            at += size
        else:
            at += 8 if kind == 1 else 4


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
