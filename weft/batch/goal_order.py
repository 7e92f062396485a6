"""Which goals of a file are run, and in which order: the first N or any, shuffled."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weft.batch.goals import BatchGoal

_WINDOW = 10_000


@dataclass(frozen=True, slots=True)
class GoalOrder:
    """Which goals to take of a file; the goals and their order are the same each time they are iterated."""

    limit: int | None = None
    shuffle: bool = False
    seed: float = field(default_factory=random.random)

    def goals(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        """The goals that are taken."""
        return islice(_shuffled(goals, self.seed) if self.shuffle else goals, self.limit)

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
