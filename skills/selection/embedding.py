"""The detector `embedding`: skills by the goal's words, as `ranked` has it, and by its meaning.

    score = BM25 and pairs as a share of the best one's + MEANING · cosine of goal and description

Vectors alone choose worse than words do, both together a little better than either; they also find what shares no word.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from operator import mul
from typing import TYPE_CHECKING

from skills.selection import triggers
from skills.selection.descriptions import cut
from skills.selection.detector import Selection
from skills.selection.ranked import RankedDetector
from skills.selection.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.selection.vectors import Encoder
    from skills.skill import Skill

# What a cosine of 1 counts beside the best score by words.
MEANING = 0.66
# From here on meaning alone is enough: of another field's goals hardly any comes so near to a skill.
EVEN = 0.40
STEEPNESS = 12.0
THRESHOLD = 0.5
# Of the others, those count that come near the first.
NEAR = 0.6
MOST = 5
# So many by words are compared with the nearest by meaning.
CANDIDATES = 50


class EmbeddingDetector:
    """Compares words and vectors of goal and skills; keeps both in `cache` between starts."""

    def __init__(self, encoder: Encoder, cache: Path | None = None) -> None:
        self._encoder = encoder
        self._vectors = Vectors(encoder, cache / "vectors.bin" if cache is not None else None)
        self._words = RankedDetector(cache)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit it well enough; none where none does."""
        best = self._best(triggers.besides(goal, skills), skills, MOST)
        first = best[0][0] if best else 0.0
        fitting = [skill for score, skill in best if skill.score >= THRESHOLD and score >= NEAR * first]
        return _merged(triggers.named(goal, skills), fitting)

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The skills that the goal names, then the best, however poor they are."""
        best = [skill for _, skill in self._best(goal, skills, most)]
        return _merged(triggers.named(goal, skills), best)[:most]

    def _best(self, goal: str, skills: Sequence[Skill], most: int) -> list[tuple[float, Selection]]:
        if not skills or not goal.strip():
            return []
        scored = self._words.scored(goal, skills, max(CANDIDATES, most))
        top = scored[0][0] if scored else 1.0
        by_words = {found.name: (score / top, found) for score, found in scored}
        cosines = self._cosines(goal, skills)
        nowhere = 0.0, Selection("", 0.0, "")
        shares = [by_words.get(skill.name, nowhere) for skill in skills]
        totals = [share + MEANING * cosine for (share, _), cosine in zip(shares, cosines, strict=True)]
        order = sorted(range(len(skills)), key=lambda at: (-totals[at], skills[at].name))[:most]
        found, sure = [], 1.0
        for at in order:
            chosen = _selection(skills[at].name, shares[at][1], cosines[at])
            sure = min(sure, chosen.score)
            found.append((totals[at], replace(chosen, score=sure)))
        return found

    def _cosines(self, goal: str, skills: Sequence[Skill]) -> list[float]:
        (wanted,) = self._encoder.encode([goal])
        vectors = self._vectors.of([text_of(skill) for skill in skills])
        return [max(-1.0, min(1.0, sum(map(mul, wanted, vector)))) for vector in vectors]


def text_of(skill: Skill) -> str:
    """What of a skill is compared: its name and what it says of itself, not what it says of others."""
    when = str(skill.extra.get("when_to_use") or skill.extra.get("when-to-use") or "")
    name = skill.name.replace("-", " ").replace("_", " ")
    return " ".join(f"{name}. {cut(skill.description).own} {cut(when).own}".split())


def _selection(name: str, by_words: Selection, cosine: float) -> Selection:
    """Sure is what is sure by words, or by meaning alone."""
    near = 1 / (1 + exp(-STEEPNESS * (cosine - EVEN)))
    how = "close to" if near >= THRESHOLD else "far from" if near < THRESHOLD / 4 else "some way from"
    meaning = f"its description is {how} the goal in meaning: cosine {cosine:.2f}"
    reason = f"{by_words.reason}; {meaning}" if by_words.reason else meaning
    return Selection(name, round(max(by_words.score, near), 4), reason)


def _merged(named: list[Selection], near: list[Selection]) -> list[Selection]:
    chosen = {selection.name for selection in named}
    return named + [selection for selection in near if selection.name not in chosen]
