"""Write an encoder's table in the form that `goalwright_skills.selection.encoder` maps."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.encoder.table import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ALIGNMENT = 64
LARGEST_SCALE = 0xFFFF
# The largest number of a row, and what stands for zero in it.
LARGEST, ZERO = 127, 128


def content(
    name: str,
    words: Sequence[str],
    scales: Sequence[float],
    rows: Sequence[bytes],
    ordinary: Sequence[bool] = (),
    familiar: Sequence[str] = (),
    everyday: Sequence[float] = (),
    largest: float | None = None,
) -> bytes:
    """The bytes of a file: entries, their scales and their rows, 128 for zero.

    Scales are stored as shares of the `largest`, that of all where it is left out; larger ones are cut to it.
    `ordinary` tells words of everyday language from those that only skills have; all are, if it is left out.
    `familiar` are words of many skills that are no entries. `everyday` tells everyday talk, by the weights of the
    dimensions and a constant; nothing does, if it is left out.
    """
    ordinary = ordinary or [True] * len(words)
    everyday = everyday or [0.0] * (len(rows[0]) + 1)
    encoded = [word.encode() for word in words]
    order = sorted(range(len(words)), key=encoded.__getitem__)
    bounds = [0]
    for place in order:
        bounds.append(bounds[-1] + len(encoded[place]))
    unit = LARGEST_SCALE / (largest or max(scales))
    whole = [min(LARGEST_SCALE, round(scales[place] * unit)) for place in order]
    sections = {
        "words": b"".join(encoded[place] for place in order),
        "bounds": struct.pack(f"<{len(bounds)}I", *bounds),
        "scales": struct.pack(f"<{len(whole)}H", *whole),
        "rows": b"".join(rows[place] for place in order),
        "ordinary": bytes(ordinary[place] for place in order),
        "familiar": " ".join(familiar).encode(),
        "everyday": struct.pack(f"<{len(everyday)}f", *everyday),
    }
    checksum = hashlib.sha256(b"".join(sections.values())).hexdigest()
    head = {"version": VERSION, "name": name, "checksum": checksum, "dimensions": len(rows[0])}
    return _joined(head, sections)


def read(path: Path) -> tuple[list[str], Any]:
    """The entries of a file and their rows, of which only the ratios count."""
    import numpy

    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    places = json.loads(data[8 : 8 + size])["sections"]
    words, bounds, scales, rows = (data[slice(*places[name])] for name in ("words", "bounds", "scales", "rows"))
    ends = struct.unpack(f"<{len(bounds) // 4}I", bounds)
    entries = [words[start:end].decode() for start, end in itertools.pairwise(ends)]
    values = numpy.frombuffer(rows, numpy.uint8).reshape(len(entries), -1).astype(numpy.float32) - ZERO
    return entries, values * numpy.frombuffer(scales, "<u2").astype(numpy.float32)[:, None]


def write_trained(path: Path, table: Any, words: Sequence[str]) -> None:
    """Write a table as training leaves it: rows of bytes, the scale of each, and the entries."""
    import numpy

    scales = numpy.maximum(numpy.abs(table).max(1), 1e-9) / LARGEST
    rows = numpy.round(table / scales[:, None]).astype(numpy.int8)
    entries = numpy.frombuffer("\n".join(words).encode(), numpy.uint8)
    numpy.savez_compressed(path, rows=rows, scales=scales.astype(numpy.float32), words=entries)


def read_trained(path: Path) -> tuple[list[str], Any]:
    """The entries and rows of a table that training left."""
    import numpy

    stored = numpy.load(path)
    words = stored["words"].tobytes().decode().split("\n")
    return words, stored["rows"].astype(numpy.float32) * stored["scales"][:, None]


def _joined(head: dict[str, object], sections: dict[str, bytes]) -> bytes:
    # The head's own length depends on the places in it, so it gets room for the longest ones.
    start = _aligned(8 + len(json.dumps(head)) + 64 * len(sections))
    places, body = {}, b""
    for name, data in sections.items():
        body += b"\0" * (_aligned(len(body)) - len(body))
        places[name] = (start + len(body), start + len(body) + len(data))
        body += data
    text = json.dumps({**head, "sections": places}).encode().ljust(start - 8)
    return len(text).to_bytes(8, "little") + text + body


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
