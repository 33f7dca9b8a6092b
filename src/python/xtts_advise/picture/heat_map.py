"""A heat map as a PNG within an SVG, in the colours of magma.

Magma is by Stéfan van der Walt and Nathaniel Smith (CC0); people who look at spectrograms know it. Equal differences
of a value look equally large, in grey print too.
"""

from __future__ import annotations

import base64
import struct
import zlib

# Each seventeenth of magma's 256 colours. Those between two are mixed, which is 3 of 255 off at most.
_MAGMA = bytes.fromhex(
    "000004 0b0924 20114b 3b0f70 57157e 721f81 8c2981 a8327d c43c75 de4968 f1605d fa7f5e fe9f6d febf84 fddea0 fcfdbf"
)
_NO_VALUE = bytes([128, 128, 128])


def palette() -> bytes:
    """Returns red, green and blue of the levels 0 (dark) to 254 (bright), then grey for 255, no value."""
    colours = bytearray()
    for level in range(255):
        at = level * 15 / 254
        first = min(int(at), 14)
        pairs = zip(_MAGMA[3 * first :][:3], _MAGMA[3 * first + 3 :][:3])
        colours += bytes(round(a + (b - a) * (at - first)) for a, b in pairs)
    return bytes(colours) + _NO_VALUE


def data_uri(rows: list[str], width: int, height: int) -> str:
    """Returns an image of so many pixels, in which each cell has several: a reader that smooths would blur small ones.

    `rows`, from the highest to the lowest: the level of each cell as two hexadecimal digits.
    """
    cells = [bytes.fromhex(row) for row in rows]
    lines = [b"\0" + bytes(row[x * len(row) // width] for x in range(width)) for row in cells]
    data = zlib.compress(b"".join(lines[y * len(lines) // height] for y in range(height)))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits, of a palette
    chunks = (b"IHDR", header), (b"PLTE", palette()), (b"IDAT", data), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
