"""The numbers of skills in a pool that consists of several indexes, some of whose skills are gone."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The number of a skill of an index that the pool does not have.
DEAD = -1


class Numbering:
    """Which skill of which index has which number, and back: the indexes follow each other.

    `kept` has, for each index, how many skills it has and the numbers there of those that count.
    """

    def __init__(self, kept: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.kept = [numbers for _, numbers in kept]
        self._firsts = list(accumulate(map(len, self.kept), initial=0))
        self.count = self._firsts[-1]
        self.numbers = [_numbers(first, *one) for first, one in zip(self._firsts, kept, strict=False)]
        # For each index the numbers there of the skills that do not count.
        self.gone = [_gone(numbers) for numbers in self.numbers]

    def locate(self, document: int) -> tuple[int, int]:
        """The index that has a skill, and its number there."""
        part = bisect_right(self._firsts, document) - 1
        return part, self.kept[part][document - self._firsts[part]]


def _numbers(first: int, count: int, kept: Sequence[int]) -> Sequence[int]:
    """For each skill of an index its number in the pool."""
    if len(kept) == count:
        return range(first, first + count)
    found = [DEAD] * count
    for number, local in enumerate(kept, first):
        found[local] = number
    return found


def _gone(numbers: Sequence[int]) -> list[int]:
    return [] if isinstance(numbers, range) else [at for at, number in enumerate(numbers) if number == DEAD]
