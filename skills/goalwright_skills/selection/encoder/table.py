"""The encoder's table: a vector for each entry of a vocabulary, in one memory-mapped file.

    head    length-prefixed JSON: version, name, checksum of the sections, dimensions, where each section is
    words   all entries as UTF-8, sorted for bisection
    bounds  uint32: the start of each entry, and the end of the last one
    scales  uint16: the factor of each entry's row
    rows    for each entry, one byte a dimension, 128 for zero
    ordinary  for each entry: 1 for a word of general English texts, else 0
    familiar  other words of many skills, separated by spaces
    everyday  float32: the weight of each dimension for everyday talk, and a constant

A text's vector is the sum of its tokens' rows, each times its scale, at length one. `training` makes the file; numbers
are little-endian.
"""

from __future__ import annotations

import json
import math
import mmap
import sys
from functools import cache, cached_property
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from goalwright_skills.errors import SetupError
from goalwright_skills.selection.encoder.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = 1
SHIPPED = Path(__file__).parents[2] / "data" / "encoder.bin"
# More tokens could overflow a lane: 256 times a byte times a 16-bit scale is just below 2 ** 32.
TOKEN_LIMIT = 256
_ZERO = 128
_LANE = 4
# The divisor that makes lengths small numbers.
UNIT = 1e6
_HEAD_LIMIT = 1 << 16
_MOST_DIMENSIONS = 4096
# The number of cached rows: those of common words while an index is built.
_ROWS_KEPT = 4_096
# The number of words whose weight and commonness are cached.
_WEIGHTS_KEPT = 20_000


class Table:
    """Vectors of texts from the file of an encoder."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        view = memoryview(data)
        head = _head(view)
        self.name: str = f"{head['name']}-{head['checksum'][:12]}"
        self.dimensions: int = head["dimensions"]
        parts = {name: view[start:end] for name, (start, end) in head["sections"].items()}
        self._data, self._first = data, head["sections"]["words"][0]
        self._rows = parts["rows"]
        self._bounds, self._scales = parts["bounds"].cast("I"), parts["scales"].cast("H")
        self._ordinary, self._familiar_words = parts["ordinary"], parts["familiar"]
        self._everyday = parts["everyday"].cast("f")
        self._count = len(self._scales)
        lengths = len(self._bounds) - 1, len(self._rows) / self.dimensions, len(self._ordinary)
        if lengths != (self._count, self._count, self._count):
            raise ValueError("sections of different lengths")
        if len(self._everyday) != self.dimensions + 1:
            raise ValueError(f"{len(self._everyday)} weights of everyday talk for {self.dimensions} dimensions")
        self._tokens = Tokens(self._find, self._find_longest)
        self._spread: dict[int, int] = {}
        self._weights: dict[str, float | None] = {}
        self._common: dict[str, int] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the table in a file; raises SetupError if it is missing, or this version cannot read it."""
        hint = "goalwright selects without it; install goalwright again to have it back"
        if sys.byteorder != "little":
            raise SetupError("the encoder's table is for little-endian machines", hint="goalwright selects without it")
        try:
            with path.open("rb") as file:
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except OSError as error:
            raise SetupError(f"the encoder's table cannot be read: {path}: {error.strerror}", hint=hint) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SetupError(f"not an encoder's table: {path}: {error}", hint=hint) from error

    @classmethod
    @cache
    def shipped(cls) -> Self:
        """Open the table that ships with goalwright, once in a process; raises SetupError as `open` does."""
        return cls.open(SHIPPED)

    def __len__(self) -> int:
        return self._count

    def vector(self, text: str, limit: int = TOKEN_LIMIT) -> list[float]:
        """Return a text's vector of length one, from its first `limit` tokens; empty without known tokens."""
        tokens = self.tokens(text, limit)
        total = sum(self._scales[token] * self._lanes(token) for token in tokens)
        bias = _ZERO * sum(self._scales[token] for token in tokens)
        sums = memoryview(total.to_bytes(self.dimensions * _LANE, "little")).cast("I")
        values = [value - bias for value in sums]
        length = math.hypot(*values)
        return [value / length for value in values] if length else []

    def tokens(self, text: str, limit: int = TOKEN_LIMIT) -> list[int]:
        """Return the first `limit` tokens of a text, at most 256."""
        return self._tokens.of(text, min(limit, TOKEN_LIMIT))

    def everyday(self, vector: Sequence[float]) -> float:
        """Return the log odds that a text is everyday talk, by its vector; 0 for an empty one."""
        return self._everyday[-1] + sum(map(mul, self._everyday, vector)) if vector else 0.0

    def weight(self, word: str) -> float | None:
        """Return the weight of a word, the length of its vector: 1 for "the", 6 for "cluster"; None if unknown."""
        if word not in self._weights:
            tokens = self._tokens.of_word(word)
            if len(self._weights) >= _WEIGHTS_KEPT:
                self._weights.clear()
            self._weights[word] = math.hypot(*map(self._length, tokens)) if tokens else None
        return self._weights[word]

    def commonness(self, word: str) -> int:
        """Return how common a word is: 2 in general texts, 1 among skills or in another language, 0 if rare."""
        if word not in self._common:
            number = self._tokens.find(word)
            if len(self._common) >= _WEIGHTS_KEPT:
                self._common.clear()
            self._common[word] = int(word in self._familiar) if number is None else 1 + self._ordinary[number]
        return self._common[word]

    @cached_property
    def _familiar(self) -> frozenset[str]:
        return frozenset(bytes(self._familiar_words).decode().split())

    def _length(self, token: int) -> float:
        """Return the length of a token's vector."""
        row = bytes(self._rows[token * self.dimensions : (token + 1) * self.dimensions])
        squares = math.hypot(*row) ** 2 - 2 * _ZERO * sum(row) + _ZERO * _ZERO * self.dimensions
        return math.sqrt(squares) * self._scales[token] / UNIT

    def _lanes(self, token: int) -> int:
        """Return a row as one integer with 32 bits per dimension, so that one addition adds all dimensions."""
        if (cached := self._spread.get(token)) is not None:
            return cached
        lanes = bytearray(self.dimensions * _LANE)
        lanes[::_LANE] = self._rows[token * self.dimensions : (token + 1) * self.dimensions]
        if len(self._spread) >= _ROWS_KEPT:
            self._spread.clear()
        number = self._spread[token] = int.from_bytes(lanes, "little")
        return number

    def _find(self, word: str) -> int | None:
        key = word.encode("utf-8", "surrogatepass")
        number = self._last(key)
        return number if number is not None and self._entry(number) == key else None

    def _find_longest(self, text: str) -> tuple[str, int | None]:
        """Return the longest entry that is a prefix of a text, and its number.

        Entries are sorted, so the last one that is not after the text shares the longest prefix with it. If that entry
        is no prefix of the text, only the shared part can be one.
        """
        key = text.encode("utf-8", "surrogatepass")
        while key and (number := self._last(key)) is not None:
            entry = self._entry(number)
            if key.startswith(entry):
                return entry.decode("utf-8", "surrogatepass"), number
            differences = (index for index, pair in enumerate(zip(key, entry, strict=False)) if pair[0] != pair[1])
            key = key[: next(differences, len(key) - 1)]
        return "", None

    def _last(self, key: bytes) -> int | None:
        """Return the number of the last entry that is not after a key."""
        low, high = 0, self._count
        data, first, bounds = self._data, self._first, self._bounds
        while low < high:
            middle = (low + high) // 2
            if data[first + bounds[middle] : first + bounds[middle + 1]] <= key:
                low = middle + 1
            else:
                high = middle
        return low - 1 if low else None

    def _entry(self, number: int) -> bytes:
        return bytes(self._data[self._first + self._bounds[number] : self._first + self._bounds[number + 1]])


def _head(view: memoryview) -> Mapping[str, Any]:
    size = int.from_bytes(view[:8], "little")
    if not 2 <= size <= min(len(view) - 8, _HEAD_LIMIT):
        raise ValueError("no head")
    head: dict[str, Any] = json.loads(bytes(view[8 : 8 + size]))
    if head["version"] != VERSION:
        raise ValueError(f"version {head['version']!r}, this goalwright reads {VERSION}")
    if not (isinstance(head["dimensions"], int) and 0 < head["dimensions"] <= _MOST_DIMENSIONS):
        raise ValueError(f"{head['dimensions']!r} dimensions")
    for name, (start, end) in head["sections"].items():
        if not 0 <= start <= end <= len(view):
            raise ValueError(f"section {name!r} is not in the file")
    return head
