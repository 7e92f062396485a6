"""The ranking of a goal in another language than the skills: by its own words, and by keywords in the skills' language.

A skill counts with the better of its two scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_skills.selection.ranked import MAX_SELECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.selection.detector import Selection
    from goalwright_skills.selection.ranked import RankedDetector
    from goalwright_skills.skill import Skill


@dataclass(frozen=True, slots=True)
class TranslatedDetector:
    """Selects for one goal by its words and by its `keywords`, one line for each thing that it asks for."""

    ranked: RankedDetector
    keywords: str

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that fit the goal or its keywords well enough; an empty list if none does."""
        return self._merged(self.ranked.detect(goal, skills), self.ranked.detect(self.keywords, skills), MAX_SELECTED)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best skills, whatever their confidence."""
        own, translated = (self.ranked.rank(text, skills, limit) for text in (goal, self.keywords))
        return self._merged(own, translated, limit)

    def _merged(self, own: Sequence[Selection], translated: Sequence[Selection], limit: int) -> list[Selection]:
        """Two rankings of the same goal as one: by the better score of each skill, the goal's own first on a tie."""
        best = {selection.name: selection for selection in own}
        for selection in translated:
            before = best.get(selection.name)
            if before is None or selection.score > before.score:
                best[selection.name] = replace(
                    selection, reason=f"by the goal's keywords in translation: {selection.reason}"
                )
        return sorted(best.values(), key=lambda selection: -selection.score)[:limit]
