"""The detector `embedding`: skills whose descriptions mean what the goal means, whatever their words."""

from __future__ import annotations

from math import exp
from operator import mul
from typing import TYPE_CHECKING

from skills import triggers
from skills.clauses import cut
from skills.detector import Selection
from skills.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.skill import Skill
    from skills.vectors import Encoder

# Of the right first selections on real collections, 95 % have at least this cosine: a confidence of one half.
EVEN = 0.23
STEEPNESS = 12.0
THRESHOLD = 0.5
# Of the others, those count that come near the first.
NEAR = 0.08
MOST = 5


class Embedding:
    """Compares the vectors of goal and skills; keeps the skills' vectors in `cache` between starts."""

    def __init__(self, encoder: Encoder, cache: Path | None = None) -> None:
        self._encoder = encoder
        self._vectors = Vectors(encoder, cache / "vectors.bin" if cache is not None else None)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that are close enough to it; none where none is."""
        near = self._nearest(goal, skills, MOST)
        best = near[0][0] if near else 0.0
        fitting = [skill for cosine, skill in near if skill.score >= THRESHOLD and cosine >= best - NEAR]
        return _merged(triggers.named(goal, skills), fitting)

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The skills that the goal names, then the nearest, however far they are."""
        near = [skill for _, skill in self._nearest(goal, skills, most)]
        return _merged(triggers.named(goal, skills), near)[:most]

    def _nearest(self, goal: str, skills: Sequence[Skill], most: int) -> list[tuple[float, Selection]]:
        if not skills or not goal.strip():
            return []
        (wanted,) = self._encoder.encode([goal])
        vectors = self._vectors.of([text_of(skill) for skill in skills])
        cosines = [max(-1.0, min(1.0, sum(map(mul, wanted, vector)))) for vector in vectors]
        order = sorted(range(len(skills)), key=lambda at: (-cosines[at], skills[at].name))[:most]
        return [(cosines[at], _selection(skills[at], cosines[at])) for at in order]


def text_of(skill: Skill) -> str:
    """What of a skill is compared: its name and what it says of itself, not what it says of others."""
    when = str(skill.extra.get("when_to_use") or skill.extra.get("when-to-use") or "")
    name = skill.name.replace("-", " ").replace("_", " ")
    return " ".join(f"{name}. {cut(skill.description).own} {cut(when).own}".split())


def _selection(skill: Skill, cosine: float) -> Selection:
    confidence = 1 / (1 + exp(-STEEPNESS * (cosine - EVEN)))
    reason = f"its description is close to the goal in meaning: cosine {cosine:.2f}, where {EVEN:.2f} is enough"
    if confidence < THRESHOLD:
        reason = f"its description is far from the goal in meaning: cosine {cosine:.2f}, below {EVEN:.2f}"
    return Selection(skill.name, round(confidence, 4), reason)


def _merged(named: list[Selection], near: list[Selection]) -> list[Selection]:
    chosen = {selection.name for selection in named}
    return named + [selection for selection in near if selection.name not in chosen]
