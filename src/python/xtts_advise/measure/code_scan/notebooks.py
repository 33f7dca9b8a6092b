"""The code of a notebook, as one text whose lines have the numbers that they have in the file."""

from __future__ import annotations

import ast
import json
import re
import warnings

_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


def code_of(text: str) -> str:
    """Returns the Python of all code cells. A cell that does not parse is left out.

    The text of the file has one line of code a line, as Jupyter writes it. Where it does not, the
    code's lines follow one another.
    """
    try:
        cells = json.loads(text)["cells"]
        codes = [_text_of(cell["source"]) for cell in cells if cell.get("cell_type") == "code"]
    except (KeyError, TypeError, AttributeError):
        raise ValueError("it is no notebook of format 4") from None
    except ValueError:
        raise ValueError("it is no JSON") from None
    raw = text.split("\n")
    lines: list[str] = []
    position = 0
    for code in codes:
        code = _MAGIC.sub(r"\1pass", code)
        if not _is_python(code):
            continue
        for number, line in enumerate(code.split("\n")):
            place = _place_of(line, raw, position)
            if number == 0 and place is not None:
                lines += [""] * (place - len(lines))
            position = place + 1 if place is not None else position
            lines.append(line)
    return "\n".join(lines) + "\n"


def _text_of(source: str | list[str]) -> str:
    return (source if isinstance(source, str) else "".join(source)).rstrip("\n")


def _is_python(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


def _place_of(line: str, raw: list[str], start: int) -> int | None:
    if not line.strip() or line.strip() == "pass":
        return None
    forms = {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
    for place in range(start, len(raw)):
        if any(raw[place].lstrip().startswith('"' + form) for form in forms):
            return place
    return None
