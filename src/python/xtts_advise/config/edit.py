"""Edits single values of a YAML text by dotted key ("data.batch_size"), and keeps all else.

Comments, order, quotes, indents, line ends and a byte order mark stay. An edit finds its line with the parser and
changes that line alone; of the other bytes only the blanks before a comment behind the value, so that the comment
keeps its column. Then it parses the new text and compares the two trees: exactly the intended key may differ. Otherwise
the edit is refused. So a construct that is not understood costs an edit, never a file.
"""

from __future__ import annotations

import re

from ..words import Failure
from .scalars import kind_of
from .tree import BYTE_ORDER_MARK, Entry, Node, read_map

_REASONS = {
    "anchor": "the value has an anchor",
    "tag": "the value has a tag",
    "block": "the value is a block of text",
    "flow": "the value stands in braces or brackets",
}
_INDENT_OF_NEW_FILE = 2
_SIGNS = re.compile(r"[#:{}\[\],&*!|>'\"%@`?]")


class Refused(Failure):
    def __init__(self, origin: str, line: int, reason: str) -> None:
        super().__init__("unsupported", f"{origin}:{line}: {reason}, so this line is for you to change")


def set_value(text: str, origin: str, key: str, value: str, is_text: bool = False) -> str:
    """Returns the text with another value.

    A key that is absent gets a line at the end of its section; an absent section comes at the end of the text.
    is_text: the value stands in the quotes of the old one, or in quotes where PyYAML needs them; otherwise in none.
    """
    if "." not in key:
        raise Failure("invalid_argument", f"{key} is a section, not a key")
    return _Editor(text, origin, key).set(value, is_text)


def remove_key(text: str, origin: str, key: str) -> str:
    """Returns the text with the lines of a key as comments. A key without a dot names a section."""
    return _Editor(text, origin, key).remove()


class _Editor:
    def __init__(self, text: str, origin: str, key: str) -> None:
        self.origin = origin
        self.mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        self.lines = [list(one) for one in re.findall(r"([^\n]*?)(\r?\n|\Z)", text[len(self.mark) :]) if any(one)]
        self.section_name, _, self.name = key.partition(".")
        self.root = read_map(text, origin)  # as the text is to be, once an edit is made
        self.section = self._only(self.root, self.section_name)
        self.entry: Entry | None = None
        self.line = self.section.line if self.section else 1
        if self.section and self.name:
            self._check_section(self.section)
            self.entry = self._only(self.section.value, self.name)
            self.line = self.entry.line if self.entry else self.line

    def set(self, value: str, is_text: bool) -> str:
        wanted = Node("scalar", text=value)
        if self.section is None:
            self._add_section(value, is_text)
            self.root.entries.append(Entry(self.section_name, 0, Node("map", entries=[Entry(self.name, 0, wanted)])))
        elif self.entry is None:
            self._add_key(self.section, value, is_text)
            self.section.value.kind = "map"
            self.section.value.entries.append(Entry(self.name, 0, wanted))
        else:
            self._replace(self.entry, value, is_text)
            self.entry.value = wanted
        return self._finish(wanted)

    def remove(self) -> str:
        parent, entry = (self.section.value, self.entry) if self.section and self.name else (self.root, self.section)
        if entry is None:
            dotted = f"{self.section_name}.{self.name}" if self.name else self.section_name
            raise Failure("not_found", f"{self.origin}: there is no {dotted}")
        first = entry.line - 1
        if self._after_key(entry) is None:
            raise Refused(self.origin, entry.line, "the key does not stand alone at its line's start")
        for at in range(first, self._end_of(parent, entry)):
            line = self.lines[at][0]
            if line.strip(" \t"):
                shared = min(entry.column, _indent(line))
                self.lines[at][0] = f"{line[:shared]}# {line[shared:]}"
        parent.entries = [one for one in parent.entries if one is not entry]
        if not parent.entries:
            parent.kind = "null"
        return self._finish(None)

    def _only(self, node: Node, key: str) -> Entry | None:
        found = node.find(key)
        if len(found) > 1:
            raise Refused(self.origin, found[1].line, f"{key} stands twice in the file")
        return found[0] if found else None

    def _after_key(self, entry: Entry) -> int | None:
        """Returns the column behind the colon of a key that stands alone at its line's start."""
        line = self.lines[entry.line - 1][0]
        if entry.end_column < 0 or line[: entry.column].strip(" \t"):
            return None
        colon = re.compile(r"[ \t]*:(?=[ \t]|$)").match(line, entry.end_column)
        return colon.end() if colon else None

    def _check_section(self, section: Entry) -> None:
        """Adding or changing a key in a section that an alias repeats would change other sections."""
        if section.value.kind not in ("map", "null"):
            raise Refused(self.origin, section.line, f"{section.key} is {section.value.name}")
        colon = self._after_key(section)
        if colon is None:
            raise Refused(self.origin, section.line, "the section does not begin its line")
        rest = self.lines[section.line - 1][0][colon:].strip(" \t")
        if rest and not rest.startswith("#"):
            reason = _REASONS.get(section.value.mark, f"{section.key} begins behind its colon")
            raise Refused(self.origin, section.line, reason)

    def _replace(self, entry: Entry, value: str, is_text: bool) -> None:
        node = entry.value
        if node.mark in ("anchor", "tag", "block"):
            raise Refused(self.origin, entry.line, _REASONS[node.mark])
        if node.kind in ("map", "list"):
            raise Refused(self.origin, entry.line, "the value has several parts")
        colon = self._after_key(entry)
        if colon is None:
            raise Refused(self.origin, entry.line, "the key does not stand alone at its line's start")
        line = self.lines[entry.line - 1][0]
        if node.kind == "null" and (node.line, node.column) == (node.end_line, node.end_column):
            begin = end = colon
        elif not node.line == node.end_line == entry.line:
            raise Refused(self.origin, entry.line, "the value stands on other lines, or on several")
        else:
            begin, end = node.column, node.end_column
        quote = line[begin] if node.quoted else ""
        word = (" " if begin == end else "") + _written(value, is_text, quote)
        self.lines[entry.line - 1][0] = _replaced(line, begin, end, word)

    def _end_of(self, parent: Node, entry: Entry) -> int:
        """Returns the index of the line behind the last one that belongs to the entry."""
        behind = [other.line - 1 for other in (*self.root.entries, *parent.entries) if other.line > entry.line]
        end = min(behind, default=len(self.lines))
        while end > entry.line and _is_between(self.lines[end - 1][0]):
            end -= 1
        return end

    def _indent_of(self, section: Entry) -> int:
        entries = section.value.entries
        return _indent(self.lines[entries[0].line - 1][0]) if entries else 0

    def _indent_of_file(self) -> int:
        return next((n for n in map(self._indent_of, self.root.entries) if n), _INDENT_OF_NEW_FILE)

    def _add_key(self, section: Entry, value: str, is_text: bool) -> None:
        indent = self._indent_of(section) or self._indent_of_file()
        end = min((one.line - 1 for one in self.root.entries if one.line > section.line), default=len(self.lines))
        while end > section.line:
            line = self.lines[end - 1][0]
            if not _is_between(line) or (_is_comment(line) and _indent(line) >= indent):
                break
            end -= 1
        self._insert(end, f"{' ' * indent}{self.name}: {_written(value, is_text, '')}")

    def _add_section(self, value: str, is_text: bool) -> None:
        last = len(self.lines)
        while last > 1 and (not self.lines[last - 1][0].strip(" \t") or _is_document_mark(self.lines[last - 1][0])):
            last -= 1
        self._insert(last, f"{self.section_name}:")
        self._insert(last + 1, f"{' ' * self._indent_of_file()}{self.name}: {_written(value, is_text, '')}")

    def _insert(self, at: int, line: str) -> None:
        """Puts a line behind another. The last line of the text may lack an end."""
        end = self.lines[at - 1][1]
        if not end:
            self.lines[at - 1][1] = "\r\n" if any(one[1] == "\r\n" for one in self.lines) else "\n"
        self.lines.insert(at, [line, end])

    def _finish(self, changed: Node | None) -> str:
        """changed: the node whose quotes may be any."""
        text = self.mark + "".join(line + end for line, end in self.lines)
        if not self.root.entries:
            raise Refused(self.origin, 1, "the file would hold nothing")
        try:
            made = read_map(text, self.origin)
        except Failure:
            raise Refused(self.origin, self.line, "the edit would not be YAML") from None
        wanted = [_shape(self.root)]
        if changed is not None:
            changed.quoted = True
            wanted.append(_shape(self.root))
        if _shape(made) not in wanted:
            raise Refused(self.origin, self.line, "the edit would change more than this value")
        return text


def _shape(node: Node) -> object:
    return (
        node.kind,
        node.text,
        node.quoted,
        [_shape(item) for item in node.items],
        [(entry.key, _shape(entry.value)) for entry in node.entries],
    )


def _replaced(line: str, begin: int, end: int, word: str) -> str:
    """A comment behind the value keeps its column, if it has the blanks for that."""
    rest = line[end:]
    gap = len(rest) - len(rest.lstrip(" "))
    if gap and rest[gap : gap + 1] == "#":
        longer = len(word) - (end - begin)
        rest = rest[min(longer, gap - 1) :] if longer > 0 else " " * -longer + rest
    return line[:begin] + word + rest


def _written(value: str, is_text: bool, quote: str) -> str:
    if not is_text:
        return value
    if not quote:
        if _may_be_plain(value):
            return value
        quote = '"'
    escaped = value.replace("'", "''") if quote == "'" else value.replace("\\", "\\\\").replace('"', '\\"')
    return quote + escaped + quote


def _may_be_plain(value: str) -> bool:
    """A text without quotes is a text to PyYAML, and does not hold what YAML gives a meaning."""
    return (
        kind_of(value) == "text"
        and value == value.strip(" \t")
        and not _SIGNS.search(value)
        and not value.startswith("-")
        and value not in ("=", "<<", "y", "n")
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_comment(line: str) -> bool:
    return line.lstrip(" \t").startswith("#")


def _is_document_mark(line: str) -> bool:
    return line in ("---", "...") or line.startswith(("--- ", "... "))


def _is_between(line: str) -> bool:
    return not line.strip(" \t") or _is_comment(line) or _is_document_mark(line)
