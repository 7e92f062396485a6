"""The best skills for a goal in order, without a threshold.

Each part of the goal has at least one skill in the list, and so have the skills nearest in meaning, which may share
fewer words with the goal than thirty others. Among a few hundred skills, the last places are shared with the skills
that are similar to the best ones: a goal for a film's images does not mention searching for the film, but its plan
needs that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.index.vectors import Vectors
from goalwright_skills.selection.ranking import reasons

if TYPE_CHECKING:
    from goalwright_skills.selection.ranking.reading import GoalReading

# In larger pools, enough skills fit by themselves.
SMALL_POOL = 500
# The places for the best skills, the number of these that the others are compared with, and the constant of the
# reciprocal ranks that order the remaining places: the larger, the less the order counts.
FITTING, _COMPARED, _RANK_CONSTANT = 16, 8, 10
# The number of skills nearest in meaning that a planner's listing always contains.
NEAREST = 8


def ranked(reading: GoalReading, limit: int) -> list[Selection]:
    """Return the best `limit` skills, with decreasing scores."""
    selections: list[Selection] = []
    score = 1.0
    for document in _order(reading, limit):
        score = min(score, reading.probability(document))
        reason = reasons.of_rank(document, reading)
        selections.append(Selection(reading.pool.skills[document].name, round(score, 4), reason))
    return selections


def _order(reading: GoalReading, limit: int) -> list[int]:
    """Return the numbers of the best skills; missing skills near in meaning or of parts take the last places."""
    best = [document for document, _ in reading.ranked[:limit]]
    vectors = reading.pool.vectors
    if FITTING < limit < len(reading.pool.skills) <= SMALL_POOL and isinstance(vectors, Vectors):
        best = _with_similar(vectors, best, limit)
    guaranteed = dict.fromkeys(reading.whole.nearest(NEAREST) if limit > FITTING else ())
    guaranteed |= dict.fromkeys(part.ranked[0].candidate.document for part in reading.parts if part.ranked)
    missing = [document for document in guaranteed if document not in best][: limit // 2]
    return [*best[: limit - len(missing)], *missing]


def _with_similar(vectors: Vectors, best: list[int], limit: int) -> list[int]:
    """Return the best skills, the last places shared with the skills similar to the first ones."""
    fitting, others = best[:FITTING], best[FITTING:]
    similar = [document for document in vectors.alike(best[:_COMPARED], FITTING + limit) if document not in fitting]
    scores: dict[int, float] = {}
    for order in (others, similar):
        for rank, document in enumerate(order):
            scores[document] = scores.get(document, 0.0) + 1 / (_RANK_CONSTANT + rank)
    by_score = sorted(scores, key=lambda document: (-scores[document], document))
    return [*fitting, *by_score[: limit - len(fitting)]]
