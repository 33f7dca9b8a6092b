"""Finds patterns that starve a GPU in a trainer's Python files and notebooks, by parsing them.

The files are never imported or run. `scan()` returns what `python -m
xtts_advise.measure.code_scan DIR` prints: a dictionary for JSON. It has

    format      1
    files_read  how many files were parsed
    not_read    a list of {file, reason}
    finds       a list of {rule, file, line, status, text, why, remedy, certainty}
    loader      {kind, file, line, text, dataset, getitem}: which loader trains

The status is "fail" or "warn". The certainty is "high" where the code says it, "medium" where a name
or a value that is not in the code decides, and "low" where the place may never run.

`# xtts: ignore RULE` at the end of a line, or alone on the line above, hides the finds of that rule
there. Without a rule, it hides all.
"""

from .scan import scan

__all__ = ["scan"]
