"""The numbers of an index's terms, found by a hash table in the file: one look, where a bisection takes fifteen."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST = 8


def spelled(text: str) -> tuple[bytes, int]:
    """A term as it is written in an index, and its hash."""
    word = text.encode("utf-8", "surrogatepass")
    return word, crc32(word)


def slots_of(words: Sequence[bytes]) -> bytes:
    """The hash table of these terms: in each slot a number from one, or zero; at most half of them are taken."""
    size = max(_LEAST, 1 << (2 * len(words)).bit_length())
    slots = array("I", bytes(4 * size))
    for number, word in enumerate(words, 1):
        at = crc32(word) & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = number
    return bytes(slots)


class TermTable:
    """The terms of one index, by their text, where each begins, and the hash table."""

    def __init__(self, text: memoryview, bounds: memoryview, slots: memoryview) -> None:
        if len(slots) < _LEAST or len(slots) & (len(slots) - 1):
            raise ValueError("a hash table of no power of two")
        self._text, self._bounds, self.slots = text, bounds, slots
        self.last = len(slots) - 1

    def find(self, word: bytes, hashed: int) -> int | None:
        """The number of a term; None where the index lacks it."""
        slots, bounds, at = self.slots, self._bounds, hashed & self.last
        for _ in range(self.last):  # a table without an empty slot makes no sense, but has to end
            if not (number := slots[at]):
                return None
            if self._text[bounds[number - 1] : bounds[number]] == word:
                return number - 1
            at = (at + 1) & self.last
        return None


def found_in(tables: Sequence[TermTable], word: bytes, hashed: int) -> dict[int, int]:
    """Which of several indexes have a term, and its number in each."""
    found = {}
    for at, table in enumerate(tables):
        # Most words are in few indexes: an empty slot tells so without a call.
        if table.slots[hashed & table.last] and (number := table.find(word, hashed)) is not None:
            found[at] = number
    return found
