#!/usr/bin/env python3
"""check_messages.py [PROJECT]: tries each message of the sources by rules.py. With --list, it prints them.

A message is a text of the sources that has words: of an error, a notice, a help, a report. {name} is a part that is
computed, {a|b} one of two texts.
"""

import re
import sys
from pathlib import Path

import cpp_texts
import python_texts
import rules
import yaml_texts

HERE = Path(__file__).resolve().parent
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


def check(project):
    """What is wrong with the messages of a project, as lines for a person."""
    commands = rules.commands_of(project)
    return [
        f"{name}: {fault}: {line}"
        for name, lines in messages_by_file(project).items()
        for line in lines
        for fault in rules.faults_of(line, commands)
    ]


def main():
    is_list = "--list" in sys.argv
    folders = [word for word in sys.argv[1:] if word != "--list"]
    project = Path(folders[0]).resolve() if folders else HERE.parents[1]
    if is_list:
        for name, lines in messages_by_file(project).items():
            print(f"\n{name}", *lines, sep="\n  ")
        return 0
    problems = check(project)
    print("\n".join(problems) if problems else "messages: no fault")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
