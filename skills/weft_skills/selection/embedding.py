"""The detector `embedding`: ranks skills by the goal's words, as `ranked` does, and by its meaning.

    score = BM25 and pairs as a share of the best skill's + MEANING · cosine of goal and description

Vectors alone choose worse than words; both together choose a little better and find skills that share no word.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from operator import mul
from typing import TYPE_CHECKING

from weft_skills.selection import triggers
from weft_skills.selection.descriptions import cut, spoken_name, when_to_use
from weft_skills.selection.detector import Selection, merge
from weft_skills.selection.ranked import RankedDetector
from weft_skills.selection.ranking.confidence import MOST
from weft_skills.selection.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft_skills.selection.vectors import Encoder
    from weft_skills.skill import Skill

# The weight of a cosine of 1 beside the best score by words.
MEANING = 0.66
# The cosine from which meaning alone is enough: hardly any goal of another field comes this near to a skill.
EVEN = 0.40
STEEPNESS = 12.0
THRESHOLD = 0.5
# Skills after the first are selected if their score is at least this share of the first's.
NEAR = 0.6
MAX_SELECTED = 5
# How many of the best by words are combined with their meaning.
CANDIDATES = 50


class EmbeddingDetector:
    """Compares words and vectors of goal and skills, both cached in `cache` between starts."""

    def __init__(self, encoder: Encoder, cache: Path | None = None) -> None:
        self._encoder = encoder
        self._vectors = Vectors(encoder, cache / "vectors.bin" if cache is not None else None)
        self._words = RankedDetector(cache)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit well enough; an empty list if none does."""
        best = self._best(triggers.without_names(goal, skills), skills, MAX_SELECTED)
        first = best[0][0] if best else 0.0
        fitting = [skill for score, skill in best if skill.score >= THRESHOLD and score >= NEAR * first]
        # What fits by its words does so whatever it means, and may cover a part of the goal that meaning overlooks.
        by_words = self._words.detect(goal, skills) if best else []
        return merge(triggers.named(goal, skills), merge(fitting, by_words)[:MAX_SELECTED])

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The skills that the goal names, then the best, however poor they are."""
        best = [skill for _, skill in self._best(goal, skills, limit)]
        return merge(triggers.named(goal, skills), best)[:limit]

    def _best(self, goal: str, skills: Sequence[Skill], limit: int) -> list[tuple[float, Selection]]:
        if not skills or not goal.strip():
            return []
        scored = self._words.scored(goal, skills, max(CANDIDATES, limit))
        top = scored[0][0] if scored else 1.0
        by_words = {found.name: (score / top, found) for score, found in scored}
        cosines = self._cosines(goal, skills)
        nowhere = 0.0, Selection("", 0.0, "")
        shares = [by_words.get(skill.name, nowhere) for skill in skills]
        totals = [share + MEANING * cosine for (share, _), cosine in zip(shares, cosines, strict=True)]
        order = sorted(range(len(skills)), key=lambda at: (-totals[at], skills[at].name))[:limit]
        found, confidence = [], 1.0
        for at in order:
            chosen = _selection(skills[at].name, shares[at][1], cosines[at])
            confidence = min(confidence, chosen.score)
            found.append((totals[at], replace(chosen, score=confidence)))
        return found

    def _cosines(self, goal: str, skills: Sequence[Skill]) -> list[float]:
        (wanted,) = self._encoder.encode([goal])
        vectors = self._vectors.of([text_of(skill) for skill in skills])
        return [max(-1.0, min(1.0, sum(map(mul, wanted, vector)))) for vector in vectors]


def text_of(skill: Skill) -> str:
    """The text that is compared: a skill's name and what it says about itself, not about others."""
    own = f"{cut(skill.description).own} {cut(when_to_use(skill)).own}"
    return " ".join(f"{spoken_name(skill)}. {own}".split())


def _selection(name: str, by_words: Selection, cosine: float) -> Selection:
    """A selection with the higher of the two confidences: by words, and by meaning alone."""
    near = 1 / (1 + exp(-STEEPNESS * (cosine - EVEN)))
    how = "close to" if near >= THRESHOLD else "far from" if near < THRESHOLD / 4 else "some way from"
    meaning = f"its description is {how} the goal in meaning: cosine {cosine:.2f}"
    reason = f"{by_words.reason}; {meaning}" if by_words.reason else meaning
    return Selection(name, round(min(max(by_words.score, near), MOST), 4), reason)
