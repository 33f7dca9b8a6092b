#!/usr/bin/env python3
"""Prints the two digests that nfc_test.cpp expects, by Python's unicodedata (any version from 3.8)."""

import unicodedata

MARKS = [0x301, 0x323, 0x338, 0x654, 0x653, 0x655, 0x64B, 0x93C, 0x3099, 0x1161, 0x11A8]


def digest(texts):
    """FNV-1a of 64 bits over the normalized texts, with a line end behind each."""
    value = 0xCBF29CE484222325
    for text in texts:
        for byte in unicodedata.normalize("NFC", text).encode() + b"\n":
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"0x{value:016X}"


LETTERS = [chr(code) for code in range(0x80, 0x30000) if not 0xD800 <= code < 0xE000]
print("each letter:", digest(LETTERS))
print(
    "letters below U+3100 with two marks:",
    digest(letter + chr(a) + chr(b) for letter in LETTERS if ord(letter) < 0x3100 for a in MARKS for b in MARKS),
)
