#!/usr/bin/env python3
"""list_messages.py [PROJECT]: compares the messages in the sources with catalogue.txt, and tries them by rules.py.

A message is a text of the sources that has words: of an error, a notice, a help, a report. The catalogue has them file
by file, in the order of the sources and without line numbers, so that a review sees each new or changed message.
XTTS_REGENERATE=1 writes the catalogue anew.
"""

import difflib
import os
import re
import sys
from pathlib import Path

import cpp_texts
import python_texts
import rules
import yaml_texts

HERE = Path(__file__).resolve().parent
CATALOGUE = HERE / "catalogue.txt"
FOLDERS = ("cli", "formats", "include", "src")
READERS = {
    ".cpp": cpp_texts.texts_of,
    ".h": cpp_texts.texts_of,
    ".hpp": cpp_texts.texts_of,
    ".py": python_texts.texts_of,
    ".yaml": yaml_texts.texts_of,
}
# Texts for a shell, a compiler, a picture or a browser, not for a person.
LEFT_OUT = {"cli/completion.cpp", "src/base/make_nfc_table.py"}
HEAD = """\
# Each message that the program can print, as tests/messages/list_messages.py finds it in the sources.
# {name} is a part that is computed, {a|b} one of two texts.
# Written by: XTTS_REGENERATE=1 tests/messages/list_messages.py
"""


def is_list_of_names(words):
    """Whether the words are those of a table, such as FFmpeg's formats."""
    return len(words) > 20 and not {"a", "the", "of", "is", "and", "to", "or", "in"} & set(words)


def is_message(text, is_failure):
    """Whether a person reads it: several words, a word beside a computed part, or any word of a failure."""
    plain = re.sub(r"\{[^{}]*\}", "#", text)
    words = re.findall(r"[A-Za-z]{2,}", plain)
    if is_failure:
        return bool(words)
    if is_list_of_names(words) or re.match(r" ?<?[\w-]+(=| \w+=)\"", text):  # markup of a picture
        return False
    return " " in plain and (len(words) > 1 or (bool(words) and "#" in plain))


def messages_in(path):
    """The messages of a source as lines, each once: `label: text`, with \\n for the end of a line."""
    lines = {}
    for label, text, is_failure in READERS[path.suffix](path.read_text(encoding="utf-8")):
        if is_message(text, is_failure):
            shown = text.replace("\n", "\\n").replace("\t", "\\t").replace("\0", "\\0")
            lines[f"{label}: {shown}" if label else shown] = None
    return list(lines)


def messages_by_file(project):
    files = {}
    for path in sorted(path for folder in FOLDERS for path in (project / folder).rglob("*") if path.suffix in READERS):
        name = path.relative_to(project).as_posix()
        lines = [] if name in LEFT_OUT else messages_in(path)
        if lines:
            files[name] = lines
    return files


def catalogue_text(files):
    return HEAD + "".join(f"\n{name}\n" + "".join(f"  {line}\n" for line in lines) for name, lines in files.items())


def check(project, catalogue):
    """What is wrong with the messages of a project, as lines for a person."""
    files = messages_by_file(project)
    text = catalogue_text(files)
    if os.environ.get("XTTS_REGENERATE"):
        catalogue.write_text(text, encoding="utf-8")
    stored = catalogue.read_text(encoding="utf-8") if catalogue.exists() else ""
    problems = []
    if stored != text:
        changes = difflib.unified_diff(stored.splitlines(), text.splitlines(), "catalogue", "sources", n=0, lineterm="")
        problems += [*changes, "The catalogue is not that of the sources. Read the messages above, then write it anew:"]
        problems += ["  XTTS_REGENERATE=1 tests/messages/list_messages.py"]
    commands = rules.commands_of(project)
    for name, lines in files.items():
        for line in lines:
            problems += [f"{name}: {fault}: {line}" for fault in rules.faults_of(line, commands)]
    return problems


def main():
    project = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE.parents[1]
    problems = check(project, CATALOGUE)
    print("\n".join(problems) if problems else "messages: as in the catalogue")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
