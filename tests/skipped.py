#!/usr/bin/env python3
"""tests/skipped.py RESULTS.xml ...: how many tests ctest has skipped, and why (--output-junit)."""

import collections
import itertools
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def reason_of(case):
    """GoogleTest writes it on the line behind "FILE:LINE: Skipped"; a script says it last."""
    lines = (case.findtext("system-out") or "").strip().splitlines()
    reason = lines[-1] if lines else "disabled"
    for line, following in itertools.pairwise(lines):
        if line.endswith(": Skipped"):
            reason = following
    return re.sub("^SKIPPED: ", "", reason)


def main():
    for path in map(Path, sys.argv[1:]):
        cases = list(ElementTree.parse(path).iter("testcase"))
        reasons = collections.Counter(reason_of(one) for one in cases if one.get("status") in ("notrun", "disabled"))
        print(f"{path.parent.name}: {reasons.total()} of {len(cases)} tests")
        for reason, count in reasons.most_common():
            print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
