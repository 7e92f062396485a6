"""Small images of every format, without a library."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 8, height: int = 6, *, colour: tuple[int, int, int] = (200, 30, 30), meta: bytes = b"") -> bytes:
    """Return a PNG of one colour, with an optional comment."""
    rows = (b"\0" + bytes(colour) * width) * height
    text = _chunk(b"tEXt", b"Comment\0" + meta) if meta else b""
    return _png(width, height, text + _chunk(b"IDAT", zlib.compress(rows)))


def bomb(width: int, height: int) -> bytes:
    """Return a PNG whose header claims a huge size."""
    return _png(width, height, _chunk(b"IDAT", b""))


def _png(width: int, height: int, chunks: bytes) -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunks + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def jpeg(width: int = 8, height: int = 6) -> bytes:
    """Return a minimal JPEG: header, a segment before the size, and the end marker."""
    before = b"\xff\xe1" + struct.pack(">H", 10) + b"Exif\0\0\0\0"
    size = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + before + b"\xff" + size + b"\xff\xd9"


def gif(width: int = 8, height: int = 6) -> bytes:
    """Return a GIF with one frame."""
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\0"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + frame + b"\x3b"


def webp(kind: bytes, width: int = 8, height: int = 6) -> bytes:
    """Return a WebP header: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`)."""
    body = {
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height),
        b"VP8L": b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14),
        b"VP8X": b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    }[kind]
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk
