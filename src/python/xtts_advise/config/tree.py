"""A YAML text as a plain tree that keeps where each part stands, keys given twice, and aliases as aliases.

Nothing is ever expanded, so a file of nested anchors costs no more than its bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ..words import Failure
from .scalars import kind_of

BYTES_MAX = 64 * 1024
BYTE_ORDER_MARK = "\ufeff"
_NAMES = {
    "null": "nothing",
    "scalar": "a single value",
    "list": "a list",
    "map": "a section",
    "alias": "an alias",
    "tagged": "a tagged value",
}


@dataclasses.dataclass
class Node:
    """A value. Lines count from 1, columns from 0 without a byte order mark."""

    kind: str  # a key of _NAMES
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    text: str = ""  # of a scalar
    quoted: bool = False
    mark: str = ""  # why an edit leaves it alone: "anchor", "tag", "block" or "flow"
    items: list[Node] = dataclasses.field(default_factory=list)
    entries: list[Entry] = dataclasses.field(default_factory=list)

    @property
    def name(self) -> str:
        return _NAMES[self.kind]

    def find(self, key: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.key == key]


@dataclasses.dataclass
class Entry:
    key: str
    line: int
    value: Node
    column: int = 0
    end_column: int = 0  # of the key


def read_text(data: bytes, origin: str) -> str:
    """Returns the text of a file. Line ends and a byte order mark stay."""
    if len(data) > BYTES_MAX:
        raise Failure("invalid_argument", f"{origin}: {len(data)} bytes, at most {BYTES_MAX}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Failure("invalid_argument", f"{origin}:{line}: not UTF-8") from None
    for number, line_text in enumerate(text.split("\n"), 1):
        if "\0" in line_text:
            raise Failure("invalid_argument", f"{origin}:{number}: holds a NUL byte")
        if "\r" in line_text.removesuffix("\r"):
            raise Failure(
                "invalid_argument",
                f"{origin}:{number}: a line ends in CR alone, as the old Mac OS wrote them: make it end in LF, as "
                "\"tr '\\r' '\\n' <OLD >NEW\" does",
            )
    return text


def read_map(text: str, origin: str) -> Node:
    """Returns the root of a text of one document, which is a map."""
    plain = text.removeprefix(BYTE_ORDER_MARK)
    try:
        root = _Builder(_events(plain), origin).document()
    except YAMLError as error:
        untabbed = _without_tabs(plain)
        if untabbed == plain:
            raise _refusal(error, origin) from None
        # A tab between words is told of by a finding of its own.
        try:
            root = _Builder(_events(untabbed), origin).document()
        except YAMLError:
            raise _refusal(error, origin) from None
    if root is None or root.kind == "null":
        raise Failure("invalid_argument", f"{origin}: holds nothing")
    if root.kind != "map":
        raise Failure("invalid_argument", f"{origin}:{root.line}: expected 'key: value' lines, found {root.name}")
    return root


def _refusal(error: YAMLError, origin: str) -> Failure:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return Failure("invalid_argument", f"{origin}:{mark.line + 1 if mark else 1}: not YAML: {problem}")


def bare_tab(line: str) -> int:
    """Returns where a tab stands outside of quotes and comments, as far as one line tells; -1: nowhere."""
    quote, before = "", " "
    for at, c in enumerate(line):
        is_after_blank, before = before in " \t", c
        if quote:
            quote = "" if c == quote else quote
        elif c == "\t":
            return at
        elif is_after_blank and c in "\"'":
            quote = c
        elif is_after_blank and c == "#":
            return -1
    return -1


def _without_tabs(text: str) -> str:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        while (at := bare_tab(lines[number])) >= 0 and line[:at].strip():
            lines[number] = lines[number][:at] + " " + lines[number][at + 1 :]
    return "\n".join(lines)


def _events(text: str) -> Iterator[Any]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    yield from yaml.parse(text)


class _Builder:
    def __init__(self, events: Iterator[Any], origin: str) -> None:
        self._events, self._origin = events, origin
        self._anchors: set[str] = set()

    def document(self) -> Node | None:
        root = None
        for event in self._events:
            kind = type(event).__name__
            if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent", "DocumentStartEvent", "CommentEvent"):
                continue
            if root is not None:
                raise Failure(
                    "invalid_argument",
                    f"{self._origin}:{event.start_mark.line + 1}: a second document begins: keep one only",
                )
            root = self._node(event)
        return root

    def _node(self, event: Any) -> Node:
        kind = type(event).__name__
        node = Node("alias", event.start_mark.line + 1, event.start_mark.column)
        if kind == "AliasEvent" and event.anchor not in self._anchors:
            raise Failure(
                "invalid_argument", f"{self._origin}:{node.line}: not YAML: there is no anchor &{event.anchor}"
            )
        if kind != "AliasEvent" and event.anchor is not None:
            self._anchors.add(event.anchor)
        if kind == "ScalarEvent":
            self._set_scalar(node, event)
        elif kind == "SequenceStartEvent":
            node.kind = "list"
            node.mark = _mark(event, bool(event.flow_style))
            while type(inner := next(self._events)).__name__ != "SequenceEndEvent":
                node.items.append(self._node(inner))
            event = inner
        elif kind == "MappingStartEvent":
            node.kind = "map"
            node.mark = _mark(event, bool(event.flow_style))
            while type(inner := next(self._events)).__name__ != "MappingEndEvent":
                node.entries.append(self._entry(inner))
            event = inner
        node.end_line, node.end_column = event.end_mark.line + 1, event.end_mark.column
        return node

    def _set_scalar(self, node: Node, event: Any) -> None:
        node.text, node.quoted = event.value, event.style in ("'", '"', "|", ">")
        node.mark = _mark(event, False) or ("block" if event.style in ("|", ">") else "")
        is_plain = not node.quoted and node.mark != "tag"
        node.kind = (
            "tagged" if node.mark == "tag" else "null" if is_plain and kind_of(node.text) == "null" else "scalar"
        )
        if node.kind == "null":
            node.text = ""

    def _entry(self, event: Any) -> Entry:
        key = self._node(event)
        if key.kind not in ("scalar", "null") or not (key.text or key.quoted):
            raise Failure("invalid_argument", f"{self._origin}:{key.line}: a key must be a word")
        end = key.end_column if key.end_line == key.line else -1
        return Entry(key.text, key.line, self._node(next(self._events)), key.column, end)


def _mark(event: Any, is_flow: bool) -> str:
    tag = getattr(event, "tag", None)
    if tag is not None and str(tag) not in ("", "!"):
        return "tag"
    if event.anchor is not None:
        return "anchor"
    return "flow" if is_flow else ""
