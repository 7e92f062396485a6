"""Writes small encoder tables for tests, in the format that `goalwright_skills.selection.encoder.table` reads."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING

from goalwright_skills.selection.encoder.table import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIGNMENT = 64
LARGEST_SCALE = 0xFFFF


def table_bytes(
    name: str,
    words: Sequence[str],
    scales: Sequence[float],
    rows: Sequence[bytes],
    *,
    everyday: Sequence[float] = (),
    largest: float | None = None,
) -> bytes:
    """Return the bytes of a table. Scales above `largest` (default: the largest scale) are cut to it."""
    encoded = [word.encode() for word in words]
    order = sorted(range(len(words)), key=encoded.__getitem__)
    bounds = [0]
    for index in order:
        bounds.append(bounds[-1] + len(encoded[index]))
    unit = LARGEST_SCALE / (largest or max(scales))
    shares = [min(LARGEST_SCALE, round(scales[index] * unit)) for index in order]
    weights = everyday or [0.0] * (len(rows[0]) + 1)
    sections = {
        "words": b"".join(encoded[index] for index in order),
        "bounds": struct.pack(f"<{len(bounds)}I", *bounds),
        "scales": struct.pack(f"<{len(shares)}H", *shares),
        "rows": b"".join(rows[index] for index in order),
        "ordinary": b"\1" * len(words),
        "familiar": b"",
        "everyday": struct.pack(f"<{len(weights)}f", *weights),
    }
    checksum = hashlib.sha256(b"".join(sections.values())).hexdigest()
    header = {"version": VERSION, "name": name, "checksum": checksum, "dimensions": len(rows[0])}
    start = _aligned(8 + len(json.dumps(header)) + 64 * len(sections))
    offsets, body = {}, b""
    for section, data in sections.items():
        body += b"\0" * (_aligned(len(body)) - len(body))
        offsets[section] = (start + len(body), start + len(body) + len(data))
        body += data
    text = json.dumps({**header, "sections": offsets}).encode().ljust(start - 8)
    return len(text).to_bytes(8, "little") + text + body


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
