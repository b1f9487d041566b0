"""PNG files without an imaging library."""

import struct
import zlib
from pathlib import Path


def pixels(png):
    """Width, height and a dictionary of colours to their number of pixels (8 bit RGB or RGBA)."""
    data = Path(png).read_bytes()
    width, height, depth, colour_type = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and colour_type in (2, 6), "unexpected kind of PNG"
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, bytes_each = zlib.decompress(packed), 3 if colour_type == 2 else 4
    stride = width * bytes_each
    above, colours = bytearray(stride), {}
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - bytes_each] if x >= bytes_each else 0
            up = above[x]
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + up) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + up) // 2) & 255
            elif kind == 4:
                corner = above[x - bytes_each] if x >= bytes_each else 0
                guess = left + up - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                row[x] = (row[x] + nearest[2]) & 255
        for x in range(0, stride, bytes_each):
            colour = tuple(row[x:x + 3])
            colours[colour] = colours.get(colour, 0) + 1
        above = row
    return width, height, colours
