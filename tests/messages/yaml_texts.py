"""Texts in a trainer's tables (src/python/xtts_advise/trainers): the values of rows that a person reads.

The tables have two forms, rows of one or several lines in braces and values under their key, plain or folded (`>-`).
"""

import re

READ = "note|loader|home|text|source|remedy"
QUOTED = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf'(?:^|[\s{{])(?:{READ}): (?:{QUOTED}|>-\n((?:      .*\n)+)|([^\n{{}}"]+?)(?=, \w+: |[}}\n]|,\n))')
SHARED = re.compile(r"^notes:\n((?:  .*\n)+)", re.MULTILINE)
SHARED_ROW = re.compile(rf"^  [\w ]+: (?:{QUOTED}|([^\n]+))", re.MULTILINE)


def texts_of(source):
    """Yields (label, text, whether it is a failure)."""
    source = re.sub(r"^ *#.*\n", "", source, flags=re.MULTILINE)
    shared = SHARED.search(source)
    rows = [*SHARED_ROW.findall(shared[1])] if shared else []
    for groups in (*rows, *ROW.findall(source)):
        text = " ".join(next(filter(None, groups), "").replace('\\"', '"').split())
        if text:
            yield "", text, False
