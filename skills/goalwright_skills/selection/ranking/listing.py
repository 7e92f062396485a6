"""The best skills for a goal in order, without a threshold; every part of the goal has at least one among them.

The skills nearest in meaning are always among them too: a goal in other words may share more words with thirty others.
Among a few hundred skills the last places are shared with those that are like the best ones: a goal for a film's images
says nothing of searching for the film, but a plan for it needs that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.index.vectors import Vectors
from goalwright_skills.selection.ranking import reasons

if TYPE_CHECKING:
    from goalwright_skills.selection.ranking.reading import GoalReading

# Where there are more skills, enough of them fit.
SMALL = 500
# How many places are for what fits best, how many of these others are compared with, and how little the order among
# those that share the rest counts (reciprocal ranks are added up).
FITTING, _BEST, _EVEN = 16, 8, 10
# How many of the nearest in meaning are always listed, where the list is as long as a planner's.
NEAREST = 8


def ranked(reading: GoalReading, limit: int) -> list[Selection]:
    """The best `limit` skills, with scores that fall from one to the next."""
    found: list[Selection] = []
    most = 1.0
    for document in _order(reading, limit):
        most = min(most, reading.probability(document))
        found.append(Selection(reading.pool.skills[document].name, round(most, 4), reasons.of_rank(document, reading)))
    return found


def _order(reading: GoalReading, limit: int) -> list[int]:
    """The numbers of the best skills; the last places are for the nearest in meaning, and for parts that have none."""
    best = [document for document, _ in reading.ranked[:limit]]
    vectors = reading.pool.vectors
    if FITTING < limit < len(reading.pool.skills) <= SMALL and isinstance(vectors, Vectors):
        best = _with_alike(vectors, best, limit)
    wanted = dict.fromkeys(reading.whole.nearest(NEAREST) if limit > FITTING else ())
    wanted |= dict.fromkeys(part.ranked[0].candidate.document for part in reading.parts if part.ranked)
    missing = [document for document in wanted if document not in best][: limit // 2]
    return [*best[: limit - len(missing)], *missing]


def _with_alike(vectors: Vectors, best: list[int], limit: int) -> list[int]:
    """The best skills; the last of them fit, or are like the best ones."""
    fitting, rest = best[:FITTING], best[FITTING:]
    alike = [at for at in vectors.alike(best[:_BEST], FITTING + limit) if at not in fitting]
    scores: dict[int, float] = {}
    for order in (rest, alike):
        for place, document in enumerate(order):
            scores[document] = scores.get(document, 0.0) + 1 / (_EVEN + place)
    return [*fitting, *sorted(scores, key=lambda at: (-scores[at], at))[: limit - len(fitting)]]
