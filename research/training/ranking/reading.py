"""Goals as numbers: the signals of every candidate in the whole goal and in each part, as the ranking reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from goalwright_skills.selection.index import building
from goalwright_skills.selection.index.postings import Postings
from goalwright_skills.selection.ranking.bm25 import Scorer
from goalwright_skills.selection.ranking.combination import FEW_PARTS
from goalwright_skills.selection.ranking.pool import Pool
from goalwright_skills.selection.ranking.reading import GoalReading
from goalwright_skills.selection.ranking.signals import Agreement, Outlook, Signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.selection.ranking.reading import Passage

    from training.goals.check import Goal
    from training.ranking.development import Development

SIGNALS = len(Signals())


@dataclass(slots=True)
class Text:
    """A goal or a part of one: its candidates, the signals of each and what it says, and what all skills are like."""

    candidates: Any
    signals: Any
    agreements: list[Agreement]
    outlook: Outlook
    says_something: bool


@dataclass(slots=True)
class Read:
    """A goal that was read: its whole first, then its parts; `expected` are the numbers of its skills in the pool.

    A `foreign` one is in another language than English.
    """

    goal: Goal
    expected: frozenset[int]
    texts: list[Text]
    foreign: bool = False

    @property
    def kind(self) -> int:
        """0 for a goal of one part, 1 for one of few, 2 for one of many."""
        parts = len(self.texts) - 1
        return 0 if not parts else 1 if parts <= FEW_PARTS else 2


def read_all(development: Development, table: Table | None) -> Iterator[Read]:
    """Every goal, read for its pool."""
    pools = {}
    for name, skills in development.pools.items():
        data = Postings(building.build(skills, table))
        pools[name] = Pool(skills, Scorer(data), data.vectors, table)
    numbers = {name: {skill.name: at for at, skill in enumerate(skills)} for name, skills in development.pools.items()}
    for goal in development.goals:
        reading = GoalReading(goal.goal, pools[goal.pool])
        expected = frozenset(numbers[goal.pool][name] for name in goal.expected)
        texts = [_text(passage) for passage in (reading.whole, *reading.parts)]
        yield Read(goal, expected, texts, bool(reading.whole.language))


def _text(passage: Passage) -> Text:
    rows = [tuple(fit.signals) for fit in passage.fits.values()]
    signals = np.array(rows).reshape(len(rows), SIGNALS)
    candidates = np.array(list(passage.fits), dtype=int)
    return Text(
        candidates, signals, list(map(passage.agreement, passage.fits)), passage.outlook, passage.words.can_select
    )
