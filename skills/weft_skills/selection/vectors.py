"""Vectors of texts, cached between starts by the hash of each text.

The file is a header (which encoder made the vectors), then a SHA-256 and the numbers for each vector, so reading it
cannot run code. A broken file, or one of another encoder, is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from array import array
from typing import TYPE_CHECKING, Protocol

from weft_skills.discovery.index import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_HASH = 32


class Encoder(Protocol):
    """Turns texts into vectors of length 1, with 32-bit numbers."""

    @property
    def name(self) -> str:
        """The key of the cache: vectors made under another name are not used."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    def encode(self, texts: Sequence[str]) -> Sequence[array[float]]:
        """A vector for each text, in order."""


class Vectors:
    """The vectors of texts: from memory, else from `path`, else encoded and saved there."""

    def __init__(self, encoder: Encoder, path: Path | None = None) -> None:
        self._encoder = encoder
        self._path = path
        self._known: dict[bytes, array[float]] | None = None

    def of(self, texts: Sequence[str]) -> list[array[float]]:
        """A vector for each text; only new texts are encoded, and only vectors of these texts are kept."""
        if self._known is None:
            self._known = load(self._path, self._encoder) if self._path is not None else {}
        known = self._known
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            known.update(zip(new, self._encoder.encode(list(new.values())), strict=True))
            self._known = {key: known[key] for key in keys}
            if self._path is not None:
                save(self._path, self._encoder, self._known)
        return [known[key] for key in keys]


def load(path: Path, encoder: Encoder) -> dict[bytes, array[float]]:
    """The vectors in a file; an empty dict unless it is a complete file of this encoder."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    header, row = _header(encoder), _HASH + 4 * encoder.dimensions
    if not data.startswith(header) or (len(data) - len(header)) % row:
        return {}
    starts = range(len(header), len(data), row)
    return {data[at : at + _HASH]: array("f", data[at + _HASH : at + row]) for at in starts}


def save(path: Path, encoder: Encoder, vectors: Mapping[bytes, array[float]]) -> None:
    """Save the vectors; a cache that cannot be written is skipped."""
    rows = b"".join(key + vector.tobytes() for key, vector in vectors.items())
    with contextlib.suppress(OSError):
        write(path, _header(encoder) + rows)


def _header(encoder: Encoder) -> bytes:
    return f"weft vectors 1 {encoder.name} {encoder.dimensions} {sys.byteorder}\n".encode()
