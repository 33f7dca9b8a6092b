"""Projects with planted faults, and with code that looks alike, for test_code_scan.py.

Each entry is a project, in files or as one file that trains. A comment `#! RULE` marks a line where
exactly that rule has to find something.
"""

from . import features, loaders, tensorflow, waits

CASES = tensorflow.CASES | waits.CASES | loaders.CASES | features.CASES
