"""The numbers of an index's terms, found by a hash table in the file: one look, where a bisection takes fifteen.

A slot has a term's number from one in its lower bits, and of the term's hash in the upper ones, as many as are left: in
an index that lacks a term they differ, so that its text is not looked at. Zero is an empty slot.
"""

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
    """The hash table of these terms; at most half of its slots are taken."""
    size = max(_LEAST, 1 << (2 * len(words)).bit_length())
    slots, lower = array("I", bytes(4 * size)), _lower(len(words))
    for number, word in enumerate(words, 1):
        hashed = crc32(word)
        at = hashed & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = hashed & ~lower | number
    return bytes(slots)


def _lower(count: int) -> int:
    """The bits for the numbers of this many terms."""
    return (1 << count.bit_length()) - 1


class TermTable:
    """The terms of one index, by their text, where each begins, and the hash table."""

    def __init__(self, text: memoryview, bounds: memoryview, slots: memoryview) -> None:
        if len(slots) < _LEAST or len(slots) & (len(slots) - 1):
            raise ValueError("a hash table of no power of two")
        self._text, self._bounds, self.slots = text, bounds, slots
        self.last, self._lower = len(slots) - 1, _lower(len(bounds) - 1)

    def find(self, word: bytes, hashed: int) -> int | None:
        """The number of a term; None where the index lacks it."""
        slots, bounds, lower, at = self.slots, self._bounds, self._lower, hashed & self.last
        for _ in range(self.last):  # a table without an empty slot makes no sense, but has to end
            if not (slot := slots[at]):
                return None
            if slot ^ hashed <= lower:
                number = slot & lower
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
