"""The numbers of skills in a pool of several indexes, which may contain removed skills."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The number of a removed skill.
DEAD = -1


class Numbering:
    """Maps the skills of consecutive indexes to numbers in the pool, and back.

    `kept` has, for each index, its number of skills and the local numbers of those that still exist.
    """

    def __init__(self, kept: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.kept = [numbers for _, numbers in kept]
        self._firsts = list(accumulate(map(len, self.kept), initial=0))
        self.count = self._firsts[-1]
        self.numbers = [_numbers(first, *one) for first, one in zip(self._firsts, kept, strict=False)]
        # The local numbers of removed skills, by index.
        self.gone = [_gone(numbers) for numbers in self.numbers]

    def locate(self, document: int) -> tuple[int, int]:
        """Return the index of a skill, and its number in that index."""
        part = bisect_right(self._firsts, document) - 1
        return part, self.kept[part][document - self._firsts[part]]


def _numbers(first: int, count: int, kept: Sequence[int]) -> Sequence[int]:
    """Return the number in the pool of each skill of an index."""
    if len(kept) == count:
        return range(first, first + count)
    numbers = [DEAD] * count
    for number, local in enumerate(kept, first):
        numbers[local] = number
    return numbers


def _gone(numbers: Sequence[int]) -> list[int]:
    return [] if isinstance(numbers, range) else [local for local, number in enumerate(numbers) if number == DEAD]
