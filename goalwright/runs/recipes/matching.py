"""Which recipe a goal is like: found by the selector that finds skills, then compared with its goal word by word."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright.runs.goal import Goal
from goalwright.runs.recipes.pattern import LIKE
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.runs.recipes.recipe import Recipe
    from goalwright.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Match:
    """A recipe that a goal is like, with the values that the goal has, how like it is (0 to 1), and why."""

    recipe: Recipe
    values: Mapping[str, str]
    score: float
    reason: str

    def giving(self, files: Mapping[str, str]) -> Match:
        """The match with files for the parameters that the goal's text does not name."""
        return replace(self, values={**self.values, **files})


@dataclass(slots=True)
class RecipeMatcher:
    """Finds the recipe that a goal is like, among recipes that may differ each time."""

    _detector: RankedDetector | None = None
    _listed: tuple[tuple[tuple[str, str], ...], list[Skill]] = ((), [])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def match(self, goal: str, recipes: Sequence[Recipe]) -> Match | None:
        """The recipe that a goal is like, if there is exactly one that is most like it."""
        like = [one for recipe in recipes if (one := like_goal(goal, recipe)) is not None]
        if not like:
            return None
        reasons = self._reasons(goal, recipes)
        kept = sorted((one for one in like if one.recipe.name in reasons), key=lambda one: -one.score)
        if not kept or (len(kept) > 1 and kept[0].score == kept[1].score):
            return None
        best = kept[0]
        return replace(best, reason=f"{reasons[best.recipe.name]}; as worded as its goal ({best.score:.2f})")

    def _reasons(self, goal: str, recipes: Sequence[Recipe]) -> dict[str, str]:
        """Why the selector of skills would choose each recipe, best first."""
        with self._lock:
            key = tuple((recipe.name, recipe.goal) for recipe in recipes)
            if self._listed[0] != key:
                self._listed = key, [_as_skill(recipe) for recipe in recipes]
            self._detector = self._detector or RankedDetector()
            found = self._detector.rank(goal, self._listed[1], len(recipes))
        return {selection.name: selection.reason for selection in found}


def like_goal(goal: str, recipe: Recipe) -> Match | None:
    """The recipe with the goal's values, if the goal is worded like its own."""
    alignment = recipe.pattern.aligned(goal, LIKE)
    if alignment is None or alignment.score < LIKE:
        return None
    if any(one.fault(alignment.values[one.name]) for one in recipe.parameters if one.name in alignment.values):
        return None
    return Match(recipe, alignment.values, alignment.score, "")


def _as_skill(recipe: Recipe) -> Skill:
    """The recipe as the selector reads it: a name, and the goal that it was made for."""
    return Skill(recipe.name, recipe.first, f"recipe:{recipe.name}", "project")


def asks_for_more(goal: Goal, recipe: Recipe, workspace: Workspace) -> bool:
    """Whether a goal needs a skill for certain that the plan does not use, and that its first goal did not need.

    What the user requires of every plan, it needs in any case.
    """
    missing = {*goal.skills, *workspace.certain(goal)}.difference(one.name for one in recipe.skills)
    if not missing.isdisjoint(workspace.settings.required_skills):
        return True
    return bool(missing) and not missing.issubset(workspace.certain(Goal(recipe.first)))
