"""Goals that no skill is for, related or not, and goals in another language than the skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.selection.ranked import RankedDetector, TranslatedDetector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill

    from selection_quality.corpus import LabelledGoal


def misfires(finder: SkillDetector, goals: Sequence[str], pool: Sequence[Skill]) -> list[str]:
    """The goals that select something, with what they select."""
    found = [(goal, finder.detect(goal, pool)) for goal in goals]
    return [f"{goal} → {chosen[0].name} {chosen[0].score:.2f}" for goal, chosen in found if chosen]


@dataclass(frozen=True, slots=True)
class Translated:
    """Of goals in other languages: how many, named as foreign, right without a model, right with its keywords."""

    goals: int
    foreign: int
    alone: int
    right: int

    @classmethod
    def measure(cls, goals: Sequence[LabelledGoal], pools: Mapping[str, list[Skill]]) -> Translated:
        """The figures of some goals with their English keywords."""
        finders = {name: RankedDetector() for name in {goal.pool for goal in goals}}
        foreign = alone = right = 0
        for goal in goals:
            finder, pool = finders[goal.pool], pools[goal.pool]
            told = finder.foreign(goal.text, pool)
            own = finder.detect(goal.text, pool)
            both = TranslatedDetector(finder, goal.keywords).detect(goal.text, pool)
            foreign += told is not None and told.goal == goal.language
            alone += bool(own) and own[0].name in goal.expected
            right += bool(both) and both[0].name in goal.expected
        return cls(len(goals), foreign, alone, right)

    def line(self) -> str:
        """A row to print."""
        return (
            f"{self.goals} translated goals: language told {self.foreign}, right by their own words {self.alone}, "
            f"with English keywords {self.right}"
        )
