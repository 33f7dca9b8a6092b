"""Judges what stands in a configuration before any rule does.

Keys that the trainer does not have, keys that stand twice or elsewhere, values of another type, tabs.
"""

from __future__ import annotations

from .. import words
from ..findings import Change, Finding
from . import scalars
from .facts import Facts, Given
from .tree import Node, bare_tab

NOT_SHOWN = "(not shown)"  # stands for a value that no report shows
LAUNCHER_KEY = "data.preprocessing_mode"  # of xtts-precompute train, which takes it out
_NEEDED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "a text",
    "list": "a list",
    "map": "a section",
}
_FOUND = {**_NEEDED, "float": "a number with a fraction", "null": "nothing"}


def judge(facts: Facts, text: str) -> list[Finding]:
    """text: what the facts were read from."""
    found = [*_tabs(facts, text), *(_empty_section(facts, one) for one in facts.empty_sections)]
    unread = []
    for key in facts.given.values():
        if key.first_line is not None:
            found.append(_twice(facts, key))
        section, dot, name = key.name.partition(".")
        field = facts.trainer.fields.get(key.name)
        if not dot or section not in facts.trainer.sections:
            found.append(_at_top(facts, key))
        elif field is None:
            found.append(_unknown(facts, key, section, name))
        else:
            found += _of_another_type(facts, key, field["type"])
            if "unread" in field:
                unread.append(key.name)
    if unread:
        found.append(_unread(facts, unread))
    return found + (_missing(facts) if facts.trainer.reads_dict else [])


def change_of(facts: Facts, key: str, after: str, reason: str) -> Change:
    is_section = "." not in key
    before = facts.text(key) if key in facts.given or is_section else ""
    # A key that is not the trainer's may be a secret of another program.
    if before and not is_section and key not in facts.trainer.fields:
        before = NOT_SHOWN
    elif before and before == after and facts.given[key].value.quoted:
        before = f'"{before}"'
    return Change(key, before, after, reason)


def _finding(facts: Facts, status: str, line: int, text: str, remedy: str, *changes: tuple[str, str]) -> Finding:
    made = [change_of(facts, key, after, text) for key, after in changes]
    return Finding(status, text, remedy, f"{facts.origin}:{line}", changes=made)


def _tabs(facts: Facts, text: str) -> list[Finding]:
    """Our parser takes tabs between words, and PyYAML does not."""
    for number, line in enumerate(text.split("\n"), 1):
        if bare_tab(line) >= 0:
            told = "This line has a tab. PyYAML stops at it, unless it belongs to a text of several lines."
            return [_finding(facts, "warn", number, told, "Write blanks.")]
    return []


def _empty_section(facts: Facts, key: Given) -> Finding:
    text = f"The section {key.name} is empty, and the trainer stops at it."
    if facts.trainer.reads_dict:
        return _finding(facts, "fail", key.line, text, "Write its keys.")
    return _finding(
        facts, "fail", key.line, text, "Take its line out: the trainer then has its defaults.", (key.name, "")
    )


def _twice(facts: Facts, key: Given) -> Finding:
    text = f"{key.name} stands twice, first on line {key.first_line}. The trainer takes the last."
    return _finding(facts, "fail", key.line, text, "Take one of the lines out.")


def _at_top(facts: Facts, key: Given) -> Finding:
    for section in facts.trainer.sections:
        if f"{section}.{key.name}" in facts.trainer.fields:
            text = f"{key.name} stands outside of the sections, so the trainer does not see it."
            return _finding(facts, "warn", key.line, text, f"Move it into the section {section}.")
    near = words.nearest(key.name, facts.trainer.sections)
    sections = words.listed(facts.trainer.sections, "and")
    text = f"The trainer reads the sections {sections}, and not {key.name}."
    return _finding(facts, "warn", key.line, text, f"Did you mean {near}?" if near else "")


def _unknown(facts: Facts, key: Given, section: str, name: str) -> Finding:
    """A trainer's dataclasses refuse a key that they do not have."""
    if facts.trainer.reads_dict:
        return _unseen(facts, key, section, name)
    stops = f"{key.name} is no key of the trainer, which stops at it (TypeError)."
    if key.name == LAUNCHER_KEY and facts.situation.reader == "launcher":
        return _finding(
            facts,
            "pass",
            key.line,
            f"This file is for the launcher: the trainer alone stops at `{name}`.",
            "Start it by `xtts-precompute train`. `--fix --for trainer` makes the line a comment.",
        )
    home = facts.trainer.home_of(key.name)
    if home:
        return _finding(facts, "fail", key.line, f"{stops} {home}", "Take the line out.", (key.name, ""))
    for other in facts.trainer.sections:
        if other != section and f"{other}.{name}" in facts.trainer.fields:
            return _misplaced(facts, key, f"{other}.{name}", stops)
    near = _near(facts, section, name)
    if near:
        # Which of the two names was meant is a guess, so nobody but a person may change it.
        remedy = f"Did you mean {section}.{near}? Correct the name, or take the line out."
        return _finding(facts, "fail", key.line, stops, remedy)
    return _finding(facts, "fail", key.line, stops, "Take the line out.", (key.name, ""))


def _unseen(facts: Facts, key: Given, section: str, name: str) -> Finding:
    """Nobody but a person may change it: a copy of the trainer may have keys of its own."""
    home = facts.trainer.home_of(key.name)
    text = f"{key.name} is no key of the trainer, which does not see it. {home}".rstrip()
    others = [f"{other}.{name}" for other in facts.trainer.sections if f"{other}.{name}" in facts.trainer.fields]
    near = _near(facts, section, name)
    meant = others[0] if others else f"{section}.{near}" if near else ""
    remedy = f"Did you mean {meant}?" if meant else "Take the line out, unless your copy of the trainer reads it."
    return _finding(facts, "warn", key.line, text, remedy)


def _near(facts: Facts, section: str, name: str) -> str:
    names = [field.partition(".")[2] for field in facts.trainer.fields if field.startswith(f"{section}.")]
    return words.nearest(name, names)


def _missing(facts: Facts) -> list[Finding]:
    """The trainer has no defaults."""
    is_there = facts.section_lines.keys() - {one.name for one in facts.empty_sections}
    lacks = [section for section in facts.trainer.sections if section not in facts.section_lines]
    lacks += [name for name in facts.trainer.fields if name.partition(".")[0] in is_there and name not in facts.given]
    if not lacks:
        return []
    text = f"The file lacks {words.listed(lacks, 'and')}. The trainer has no defaults: it stops (KeyError)."
    return [_finding(facts, "fail", 1, text, "Take the lines over from the trainer's own file.")]


def _misplaced(facts: Facts, key: Given, full: str, stops: str) -> Finding:
    is_single = key.value.kind == "scalar"
    given = facts.given.get(full)
    if given:
        is_same = is_single and given.value.kind == "scalar" and given.value.text == key.value.text
        has = "the same value." if is_same else f"another value: {facts.text(full)}."
        return _finding(
            facts, "fail", key.line, f"{stops} {full} is, and has {has}", "Take the line out.", (key.name, "")
        )
    changes = [(full, key.value.text), (key.name, "")] if is_single else []
    return _finding(facts, "fail", key.line, f"{stops} {full} is.", f"Move the line: {full}.", *changes)


def _of_another_type(facts: Facts, key: Given, type_text: str) -> list[Finding]:
    value = key.value
    kind, _, null = type_text.partition(" or ")
    needed = _NEEDED[kind]
    if value.kind in ("alias", "tagged"):
        text = f"{key.name} is {value.name}, whose value was not judged."
        return [_finding(facts, "cannot_tell", key.line, text, "Write the value out.")]
    if value.kind == "null":
        if null:
            return []
        default = facts.trainer.fields[key.name].get("default", "")
        text = f"{key.name} is empty, and {needed} is needed."
        if not default:
            return [_finding(facts, "fail", key.line, text, f"Write {needed}.")]
        remedy = f"Take the line out: the trainer's default is {default}."
        return [_finding(facts, "fail", key.line, text, remedy, (key.name, ""))]
    found = _kind(value)
    if found == kind or (kind == "float" and found == "int"):
        return []
    mended = _meant(kind, value)
    shown = f" {value.text}" if value.kind == "scalar" else ""
    written = f'"{mended}"' if kind == "text" else mended
    text = f"{key.name}{shown} is {_FOUND[found]} to PyYAML, and {needed} is needed."
    remedy = f"Write it as {written}." if mended else f"Write {needed}."
    return [_finding(facts, "fail", key.line, text, remedy, *([(key.name, mended)] if mended else []))]


def _kind(value: Node) -> str:
    if value.kind != "scalar":
        return value.kind
    return "text" if value.quoted else scalars.kind_of(value.text)


def _meant(kind: str, value: Node) -> str:
    """Returns a value that fits the type, made of what a person has probably meant; "" if there is none."""
    if value.kind != "scalar" or kind in ("list", "map"):
        return ""
    if kind == "bool":
        flag = scalars.bool_of(value.text)
        return "" if flag is None else str(flag).lower()
    return {"int": scalars.as_int, "float": scalars.as_float}.get(kind, str)(value.text)


def _unread(facts: Facts, names: list[str]) -> Finding:
    buffer = " data.pipeline_buffer_size is the buffer that it reads." if "data.prefetch_buffer_size" in names else ""
    text = f"The trainer does nothing with these keys: {', '.join(names)}.{buffer}"
    return Finding("pass", text, place=facts.origin)
