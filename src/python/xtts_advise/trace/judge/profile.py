"""What TensorFlow's profiler recorded of compiled steps (Trace): how long they waited for their batches, and
which part of a step their operations belong to, by the operations' names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WAIT = "IteratorGetNext"  # the operation that takes a batch of tf.data
# Numbers of fields: tsl/profiler/protobuf/trace_events.proto. `long_name` is "scope/of/name:Operation".
_EVENTS, _NAME, _PICOSECONDS, _FACTS, _KEY, _VALUE = 4, 3, 10, 11, 1, 2
_XLA = r"(Cpu|Gpu)Executable::"
_CONTAINERS = {_WAIT, "While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
_OPTIMIZER = r"(?i)^\w*(adam|adagrad|adadelta|adafactor|sgd|rmsprop|ftrl|lamb|lion|optimizer|clip_by_|global_norm)\w*/"
_PARTS = (
    ("backward", r"(^|/)(gradient_tape|gradients)/"),
    ("optimizer", rf"{_OPTIMIZER}|:(Resource\w*)?Apply\w+$"),
    ("loss", r"(?i)^\w*loss"),
    ("forward", r"/"),  # within a layer or another scope
)


@dataclass
class Profile:
    wait_s: float = 0.0
    batches: int = 0
    xla_s: float = 0.0  # in programs that XLA made of operations
    parts: dict[str, float] = field(default_factory=dict)  # seconds of all processors; "" is what no name tells


def read_profile(profile: bytes, scopes: set[str]) -> Profile:
    """`scopes`: the outermost ones of the steps' operations, for those of tf.data run beside them."""
    found = Profile()
    for number, event in _fields(profile):
        if number != _EVENTS or not isinstance(event, bytes):
            continue
        facts = list(_fields(event))
        name = next((_text(value) for key, value in facts if key == _NAME), "")
        seconds = next((float(value) * 1e-12 for key, value in facts if key == _PICOSECONDS), 0.0)
        if name.startswith(_WAIT):
            found.wait_s += seconds
            found.batches += 1
        elif re.match(_XLA, name):
            found.xla_s += seconds
        operation = next((_operation(value) for key, value in facts if key == _FACTS), "")
        if operation and re.sub(r"_\d+$", "", re.split("[/:]", operation)[0]) in scopes:
            part = _part_of(operation)
            if part is not None:
                found.parts[part] = found.parts.get(part, 0.0) + seconds
    return found


def _operation(fact: int | bytes) -> str:
    pair = dict(_fields(fact)) if isinstance(fact, bytes) else {}
    return _text(pair[_VALUE]) if pair.get(_KEY) == b"long_name" and _VALUE in pair else ""


def _part_of(operation: str) -> str | None:
    """None for an operation that only holds others."""
    if operation.rpartition(":")[2] in _CONTAINERS:
        return None
    operation = re.sub(r"^((Stateful)?PartitionedCall(_\d+)?/)+", "", operation)
    return next((part for part, pattern in _PARTS if re.search(pattern, operation)), "")


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


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
