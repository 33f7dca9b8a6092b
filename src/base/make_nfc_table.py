#!/usr/bin/env python3
"""make_nfc_table.py FOLDER > nfc_table.inc: the tables of nfc.cpp, from the Unicode Character Database.

FOLDER has UnicodeData.txt and DerivedNormalizationProps.txt of one version. Debian's package
unicode-data puts them into /usr/share/unicode.
"""

import re
import sys
from pathlib import Path


def rows(values, width=100):
    """Values, with commas, in lines of at most `width` characters."""
    line = ""
    for value in values:
        if line and len(line) + len(value) + 2 > width:
            yield line
            line = ""
        line += f"{' ' if line else ''}{value},"
    yield line


folder = Path(sys.argv[1])
classes, decompositions, excluded = {}, {}, set()
for line in (folder / "UnicodeData.txt").read_text().splitlines():
    fields = line.split(";")
    code = int(fields[0], 16)
    if fields[3] != "0":
        classes[code] = int(fields[3])
    if fields[5] and not fields[5].startswith("<"):
        decompositions[code] = [int(part, 16) for part in fields[5].split()]

properties = (folder / "DerivedNormalizationProps.txt").read_text()
version = re.match(r"# DerivedNormalizationProps-([\d.]+)\.txt", properties)[1]
EXCLUSION = re.compile(r"^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; Full_Composition_Exclusion", re.MULTILINE)
for first, last in EXCLUSION.findall(properties):
    excluded.update(range(int(first, 16), int(last or first, 16) + 1))

print(f"// Made by make_nfc_table.py from Unicode {version}.")
print(f'constexpr std::string_view kVersion = "{version}";')
runs = []  # code points that follow one another, of one class
for code, value in sorted(classes.items()):
    if runs and runs[-1][1] == code - 1 and runs[-1][2] == value:
        runs[-1][1] = code
    else:
        runs.append([code, code, value])
print("// First and last code point, combining class; only classes above 0.")
print("constexpr std::array kClasses = std::to_array<Class>({")
print("\n".join(rows(f"{{0x{first:X}, 0x{last:X}, {value}}}" for first, last, value in runs)))
print("});")
print("// Code point, what it is decomposed into (0: nothing), whether the two compose it.")
print("constexpr std::array kDecompositions = std::to_array<Decomposition>({")
print(
    "\n".join(
        rows(
            f"{{0x{code:X}, 0x{parts[0]:X}, {f'0x{parts[1]:X}' if len(parts) > 1 else 0}, {int(code not in excluded)}}}"
            for code, parts in sorted(decompositions.items())
        )
    )
)
print("});")
