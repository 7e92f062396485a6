"""R@1, R@5 and MRR in pools of any size, beside plain BM25 over names and descriptions."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.detectors import top
from goalwright_skills.selection.query.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill

    from selection_quality.corpus import LabelledGoal

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rank of a goal's expected skill (0 if it is not ranked), and the score of the first one."""

    place: int
    score: float


@dataclass(frozen=True, slots=True)
class Figures:
    """How good a ranking is."""

    first: float
    five: float
    reciprocal: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Figures:
        """The figures of some outcomes."""
        places, count = [one.place for one in outcomes], len(outcomes) or 1
        return cls(
            sum(place == 1 for place in places) / count,
            sum(0 < place <= 5 for place in places) / count,
            sum(1 / place for place in places if place) / count,
        )

    @classmethod
    def macro(cls, each: Sequence[Figures]) -> Figures:
        """Their mean."""
        columns = zip(*((one.first, one.five, one.reciprocal) for one in each), strict=True)
        return cls(*(sum(column) / len(each) for column in columns))

    def line(self, name: str) -> str:
        """A row to print."""
        return f"{name:<56} R@1 {self.first:.3f}  R@5 {self.five:.3f}  MRR {self.reciprocal:.3f}"


def outcome(finder: SkillDetector, goal: LabelledGoal, pool: Sequence[Skill]) -> Outcome:
    """The rank of an expected skill."""
    ranked = top(finder, goal.text, pool, DEPTH)
    places = [at for at, one in enumerate(ranked, 1) if one.name in goal.expected]
    return Outcome(places[0] if places else 0, ranked[0].score if ranked else 0.0)


class PlainBM25:
    """The floor: BM25 over name and description, stemmed, with the usual constants."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills
        texts = [Counter(terms(f"{skill.name.replace('-', ' ')} {skill.description}")) for skill in skills]
        lengths = [sum(text.values()) for text in texts]
        mean = sum(lengths) / len(lengths)
        self._norms = [1.2 * (0.25 + 0.75 * length / mean) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for at, text in enumerate(texts):
            for term, count in text.items():
                self._postings.setdefault(term, []).append((at, count))

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The best ten."""
        return self.rank(goal, skills, DEPTH)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best `limit`."""
        scores: dict[int, float] = defaultdict(float)
        for term in set(terms(goal)):
            rows = self._postings.get(term, [])
            idf = math.log(1 + (len(self._skills) - len(rows) + 0.5) / (len(rows) + 0.5))
            for at, count in rows:
                scores[at] += idf * 2.2 * count / (count + self._norms[at])
        best = heapq.nlargest(limit, scores.items(), key=itemgetter(1))
        return [Selection(self._skills[at].name, score, "") for at, score in best]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a score of the first kind is above one of the second; a tie counts half."""
    ordered = sorted(negative)
    below = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in positive)
    return below / 2 / (len(positive) * len(negative))
