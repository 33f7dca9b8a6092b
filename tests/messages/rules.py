"""What a script can tell of a message: its length, its words, and whether the commands and flags in it exist."""

import re

import python_texts

WORDS_MAX = 26  # of one sentence; a computed part counts as one
# Words that a message does not have -> what to write.
UNWANTED = {
    r"[Ww]ho(ever|soever)|[Ww]hoso": "name the person or the part",
    r"[Cc]ures?|[Cc]ured|[Rr]emed(y|ies)": "write 'mend' of what a person or a command does",
    r"\bk[A-Z]\w+|\w+::\w+": "an internal name",
    r"\b(can not|it's|don't|doesn't|isn't)\b": "write 'cannot', 'it is', 'do not'",
}
# Flags of programs other than ours that messages name.
FOREIGN_FLAGS = set(
    "--help --version --preset --build --sparse --train-data --val-data --data-path --grad-accum --data-gpu "
    "--model-gpu --enable-memory-isolation --data-gpu-memory --model-gpu-memory --prefetch-buffer-size "
    "--reset-training --resume-from --checkpoint-dir".split()
)
FOREIGN_COMMANDS = ("pip ", "cmake ", "tar ", "iconv ")
COMMAND = re.compile(r"xtts-precompute ([a-z]+)\b([^'`\n;\\]*)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# A command in quotes that lacks the program's name.
BARE = re.compile(r"['`]([a-z]+)(?= (?:--[a-z]|[A-Z]{2}|-h))")
# Behind the program's name, these words make a sentence, no command.
SENTENCE = re.compile(r"xtts-precompute (again|has|which|is|does|and)\b")


def flags_in(text):
    return set(re.findall(r'\.\w+\(\s*"(?:-\w,)?(--[a-z-]+)"', text))


def shared_flags(project):
    """{function: the flags that it adds}, of those that several commands call."""
    path = project / "cli/build_flags.cpp"
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = re.split(r"\nvoid (add_\w+)\(", source)
    flags = {function: flags_in(text) for function, text in zip(parts[1::2], parts[2::2])}
    columns = re.findall(r'\badd\("(\w+)", lists', source)
    flags["add_list_flags"] = {f"--{name}-column" for name in columns} | {"--encoding"}
    return flags


def commands_of(project):
    """{command: its flags} as cli/ defines them; under "" all flags, those of Python's commands too."""
    common = set(re.findall(r'add_(?:flag|option)\("[^"]*?(--[a-z-]+)"', (project / "cli/command.cpp").read_text()))
    common.discard("--threads")
    commands = {"": set(common)}
    shared = shared_flags(project)
    for path in sorted((project / "cli").glob("*_command*.cpp")):
        parts = re.split(r'\bCommand(?:\s+\w+)?\(app, context, "(\w+)"', path.read_text(encoding="utf-8"))
        for name, text in zip(parts[1::2], parts[2::2]):
            flags = flags_in(text) | common
            for function in re.findall(r"\badd_\w+(?=\(command)", text):
                flags |= shared[function]
            flags |= {"--threads"} if ".threads(" in text else set()
            commands[name] = flags
            commands[""] |= commands[name]
    for path in sorted((project / "src/python").rglob("*.py")):
        for label, _, _ in python_texts.texts_of(path.read_text(encoding="utf-8")):
            commands[""] |= {label} if label.startswith("--") else set()
    return commands


def without_names(text):
    """The text without the names of computed parts."""
    return re.sub(r"\{\w*\}", "X", text)


def sentences_of(text):
    text = without_names(text.replace("\\n", "\n"))
    return re.split(r"[.!?;:] |\n", text)


def faults_of(text, commands):
    """Yields what is wrong with a message, in words."""
    for sentence in sentences_of(text):
        count = len(re.findall(r"[A-Za-z][\w'-]*", sentence))
        if count > WORDS_MAX:
            yield f"{count} words in one sentence, at most {WORDS_MAX}"
    for pattern, advice in UNWANTED.items():
        for found in re.finditer(pattern, without_names(text)):
            yield f"'{found[0]}': {advice}"
    if re.search(r"[a-z][,.;:]? {2,}[a-z]", text.replace("\\n", "\n")):
        yield "two spaces in a sentence"
    yield from faults_of_commands(text, commands)


def faults_of_commands(text, commands):
    for found in COMMAND.finditer(text):
        name, rest = found.groups()
        if SENTENCE.match(found[0]):
            continue
        if name not in commands:
            yield f"there is no command 'xtts-precompute {name}'"
            continue
        for flag in FLAG.findall(rest.partition(" -- ")[0]):  # what follows is another program's
            if flag not in commands[name] | FOREIGN_FLAGS:
                yield f"'xtts-precompute {name}' has no flag {flag}"
    for name in BARE.findall(text):
        if name in commands:
            yield f"'{name}' cannot be pasted: write 'xtts-precompute {name}'"
    if not any(command in text for command in FOREIGN_COMMANDS):
        for flag in FLAG.findall(text):
            if flag not in commands[""] | FOREIGN_FLAGS:
                yield f"no command has the flag {flag}"
