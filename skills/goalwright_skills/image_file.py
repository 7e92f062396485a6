"""Detects the type of an image file from its first bytes and its size in pixels from its header, without decoding it.

File names are not trusted: HTML can be called `chart.png`. Only formats that every provider accepts count as images,
and only within the providers' limits.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

import msgspec

from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

# Anthropic's limits on one image: 5 MiB in base64 (OpenAI and Google accept more), and pixels per side.
MOST_BYTES = 5 * 1024 * 1024 * 3 // 4
MOST_PIXELS = 8_000
# The limits of one call: Google accepts 20 MB in total, and Anthropic lowers the limit on pixels beyond 20 images.
MOST_IMAGES = 20
MOST_OF_A_CALL = 14_000_000
TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_HEAD = 32
# The size of a JPEG comes after other segments, such as a thumbnail.
_MOST_SEGMENTS = 1_000
_SIZES_OF_JPEG = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class UnfitImage(Exception):
    """An image that cannot be sent to a model; the message gives the reason and the remedy."""


class Image(msgspec.Struct, frozen=True):
    """The metadata of an image, identified by the hash of its bytes; `path` is its file."""

    name: str
    type: str
    sha256: str
    bytes: int
    width: int
    height: int
    path: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.facts})"

    @property
    def facts(self) -> str:
        """Its type, pixels and bytes, as a text alternative."""
        return f"{self.type}, {self.width:,} × {self.height:,} pixels, {counted(self.bytes, 'byte')}"


def type_of(head: bytes) -> str | None:
    """Return the type of an image by its first bytes; None if models do not accept it."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def read(data: bytes, name: str, path: str = "") -> Image:
    """Parse the bytes of an image file; raises UnfitImage if it is no image, broken, or beyond the models' limits."""
    kind = type_of(data[:_HEAD])
    if kind is None:
        raise UnfitImage("it is not a PNG, JPEG, GIF or WebP image, whatever its name says; convert it to one of them")
    check_size(len(data))
    try:
        width, height = _SIZE_OF[kind](data)
    except (struct.error, IndexError, ValueError) as error:
        raise UnfitImage(f"its {_short(kind)} header is broken; save it again") from error
    if not (width and height):
        raise UnfitImage(f"it has {width} × {height} pixels by its {_short(kind)} header; save it again")
    if max(width, height) > MOST_PIXELS:
        size = f"{width:,} × {height:,} pixels"
        raise UnfitImage(f"it has {size}, and models accept at most {MOST_PIXELS:,} per side; scale it down")
    if not _is_whole(data, kind):
        raise UnfitImage(f"the {_short(kind)} image is cut off; save it again")
    return Image(name, kind, hashlib.sha256(data).hexdigest(), len(data), width, height, path)


def check_size(size: int) -> None:
    """Raise UnfitImage for a file that is larger than models accept."""
    if size > MOST_BYTES:
        message = f"it has {size:,} bytes, and models accept at most {MOST_BYTES:,}"
        raise UnfitImage(f"{message}; scale it down, or save it as JPEG")


def fitting(images: Iterable[Image], before: Iterable[Image] = ()) -> tuple[list[Image], list[Image]]:
    """Split images into those that fit into one call after `before`, without duplicates, and those that do not."""
    shown = {image.sha256: image.bytes for image in before}
    accepted: list[Image] = []
    rejected: list[Image] = []
    for image in dict.fromkeys(images):
        if image.sha256 in shown:
            continue
        if len(shown) >= MOST_IMAGES or sum(shown.values()) + image.bytes > MOST_OF_A_CALL:
            rejected.append(image)
            continue
        shown[image.sha256] = image.bytes
        accepted.append(image)
    return accepted, rejected


def _short(kind: str) -> str:
    return "WebP" if kind == "image/webp" else kind.removeprefix("image/").upper()


def _png(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise ValueError("no header chunk")
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    offset = 2
    for _ in range(_MOST_SEGMENTS):
        while data[offset] == 0xFF and data[offset + 1] == 0xFF:  # padding
            offset += 1
        if data[offset] != 0xFF:
            break
        marker = data[offset + 1]
        (length,) = struct.unpack_from(">H", data, offset + 2)
        if marker in _SIZES_OF_JPEG:
            height, width = struct.unpack_from(">HH", data, offset + 5)
            return width, height
        offset += 2 + max(length, 2)
    raise ValueError("no size")


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8 ":
            if data[23:26] != b"\x9d\x01\x2a":
                raise ValueError("no start code")
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            if data[20] != 0x2F:
                raise ValueError("no signature")
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            low, high, rest, *_ = struct.unpack_from("<HBHB", data, 24)
            return (low | high << 16) + 1, (rest | data[29] << 16) + 1
        case _:
            raise ValueError("no size")


_SIZE_OF = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}


def _is_whole(data: bytes, kind: str) -> bool:
    """Whether the image is complete; more bytes may follow it."""
    match kind:
        case "image/png":
            return data.rfind(b"IEND") > 0
        case "image/jpeg":
            return data.rfind(b"\xff\xd9") > 0
        case "image/gif":
            return data.rfind(b"\x3b") > _HEAD // 2
        case _:
            return len(data) >= int.from_bytes(data[4:8], "little") + 8
