"""The best skills for a goal in order, without a threshold; every part of the goal has at least one among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_skills.selection.detector import Selection
from weft_skills.selection.ranking import reasons

if TYPE_CHECKING:
    from weft_skills.selection.ranking.reading import GoalReading


def ranked(reading: GoalReading, limit: int) -> list[Selection]:
    """The best `limit` skills, with scores that fall from one to the next."""
    found: list[Selection] = []
    most = 1.0
    for document in _order(reading, limit):
        most = min(most, reading.probability(document))
        found.append(Selection(reading.pool.skills[document].name, round(most, 4), reasons.of_rank(document, reading)))
    return found


def _order(reading: GoalReading, limit: int) -> list[int]:
    """The numbers of the best skills; the last places are for parts that have none among the others."""
    best = [document for document, _ in reading.ranked[:limit]]
    firsts = dict.fromkeys(part.ranked[0].candidate.document for part in reading.parts if part.ranked)
    missing = [document for document in firsts if document not in best][: limit // 2]
    return [*best[: limit - len(missing)], *missing]
