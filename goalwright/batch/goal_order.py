"""Which goals of a file are taken, and in which order: the first N or any, shuffled; those begun before count."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from goalwright.batch.goals import BatchGoal

_WINDOW = 10_000


@dataclass(frozen=True, slots=True)
class GoalOrder:
    """Which goals to take of a file; the goals and their order are the same each time they are iterated.

    If the batch is resumed with a limit, goals that have `begun` are taken before others.
    """

    limit: int | None = None
    shuffle: bool = False
    seed: float = field(default_factory=random.random)
    begun: Set[str] = frozenset()

    def goals(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        """The goals that are taken."""
        ordered = _shuffled(goals, self.seed) if self.shuffle else iter(goals)
        if self.limit is None or not self.begun:
            return islice(ordered, self.limit)
        return self._begun_first(ordered, min(self.limit, sum(goal.id in self.begun for goal in goals)))

    def _begun_first(self, ordered: Iterator[BatchGoal], begun: int) -> Iterator[BatchGoal]:
        """The first `begun` goals that have begun, and as many others as the limit leaves, in their order."""
        left = {True: begun, False: (self.limit or 0) - begun}
        while any(left.values()) and (goal := next(ordered, None)) is not None:
            if left[has_begun := goal.id in self.begun]:
                left[has_begun] -= 1
                yield goal

    def count(self, goals: int) -> int:
        """How many are taken of this many goals."""
        return min(goals, self.limit or goals)


def _shuffled(goals: Iterable[BatchGoal], seed: float) -> Iterator[BatchGoal]:
    """The goals shuffled within a window, so that they are never all in memory."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    window: list[BatchGoal] = []
    for goal in goals:
        window.append(goal)
        if len(window) >= _WINDOW:
            place = dice.randrange(len(window))
            window[place], window[-1] = window[-1], window[place]
            yield window.pop()
    dice.shuffle(window)
    yield from window
