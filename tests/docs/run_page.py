#!/usr/bin/env python3
"""run_page.py PAGE: does what a page of Markdown tells its reader to do, in the present folder.

Blocks run from top to bottom, each as its language says:

    ```sh        a script, which stops at the first command that fails
    ```console   commands behind `$ `, and below each what it prints: digits may differ, and a line
                 of `...` stands for any number of lines
    ```python    Python, in one process and one namespace for the whole page

Blocks of other languages are only for reading. A comment before a block, which readers do not see,
changes that:

    <!-- file: NAME -->         the block is what the file NAME holds
    <!-- exit: N -->            the script ends with this exit code
    <!-- not run: REASON -->    the block is not run
    <!-- setup: COMMAND -->     this command runs here
    <!-- python: STATEMENT -->  this statement runs here
"""

import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"<!-- (file|exit|not run|setup|python|needs): (.*) -->$")


class PageError(Exception):
    pass


def blocks_of(text):
    """Yields (number of the first line, language, comments before it, text) of each block."""
    comments, language, begin, lines = [], None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if language is None:
            if comment := COMMENT.match(line):
                comments.append(comment.groups())
            elif line.startswith("```"):
                language, begin, lines = line[3:].strip(), number + 1, []
            elif line.strip() and comments:
                yield begin, "", comments, ""
                comments = []
        elif line.startswith("```"):
            yield begin, language, comments, "\n".join(lines) + "\n"
            comments, language = [], None
        else:
            lines.append(line)
    if language is not None:
        raise PageError(f"the block that begins in line {begin} has no end")
    if comments:
        yield begin, "", comments, ""


def run_script(script, code=0):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise PageError(f"exit code {done.returncode}, not {code}:\n{script}\n{done.stdout}{done.stderr}")
    return done.stderr + done.stdout


def shape_of(line):
    """Evens out what differs from run to run: digits, and how many spaces make a column."""
    return " ".join(re.sub(r"[\d,.]*\d", "#", line).split())


def is_shown(expected, printed):
    """Whether these lines print so; `...` stands for any lines."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(is_shown(expected[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and is_shown(expected[1:], printed[1:])


def run_console(text, code):
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *expected = part.splitlines()
        printed = run_script(command, code).splitlines()
        if not is_shown(
            [line if line == "..." else shape_of(line) for line in expected], [shape_of(line) for line in printed]
        ):
            raise PageError(f"$ {command}\nprints\n" + "\n".join(printed))


def run_block(language, settings, text, page, line, names):
    if "not run" in settings:
        return
    code = int(settings.get("exit", 0))
    if "file" in settings:
        Path(settings["file"]).write_text(text, encoding="utf-8")
    elif language == "sh":
        run_script(text, code)
    elif language == "console":
        run_console(text, code)
    elif language == "python":
        exec(compile("\n" * (line - 1) + text, page, "exec"), names)


def run_page(page):
    names = {"__name__": "__main__"}
    for line, language, comments, text in blocks_of(Path(page).read_text(encoding="utf-8")):
        for name, value in comments:
            if name == "setup":
                run_script(value)
            elif name == "python":
                exec(value, names)
        try:
            run_block(language, dict(comments), text, page, line, names)
        except PageError as error:
            raise PageError(f"{page}, the block of line {line}: {error}") from None


if __name__ == "__main__":
    try:
        run_page(sys.argv[1])
    except PageError as error:
        sys.exit(str(error))
