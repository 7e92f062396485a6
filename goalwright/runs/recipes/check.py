"""A recipe against the skills of today: what has changed, what is gone or off, and whether its plan can still run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.recipes.filling import fill
from goalwright_planner.decompose import required
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.runs.recipes.recipe import Recipe
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.validate import Known
    from goalwright_skills.skill import Skill

_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True)
class RecipeCheck:
    """What a recipe is today: its plan and goal with values, or else why it cannot be used; and what to warn of."""

    goal: str
    plan: Plan | None
    reason: str = ""
    warnings: tuple[str, ...] = ()


def check(
    recipe: Recipe,
    values: Mapping[str, str],
    known: Known,
    skills: Mapping[str, Skill],
    must_use: Sequence[str] = (),
) -> RecipeCheck:
    """Whether a recipe can be used with these values, among these skills, of which every plan must use some."""
    made = fill(recipe, values, known)
    absent = [one.name for one in recipe.skills if one.name not in skills]
    if absent:
        return RecipeCheck(made.goal, None, _absence(absent, skills, known.unusable))
    if made.plan is None:
        return RecipeCheck(made.goal, None, f"its plan can no longer run: {_joined(made.faults)}")
    if lacking := required.unused(made.plan, must_use):
        names = " and ".join(map(repr, lacking))
        return RecipeCheck(made.goal, None, f"its plan does not use {names}, which every plan must ([skills] require)")
    changed = [one.name for one in recipe.skills if one.sha256 and one.sha256 != skill_hash(skills[one.name])]
    warning = (
        f"the recipe {recipe.name!r} was saved with another version of {', '.join(changed)}; its plan is used as it is"
    )
    return RecipeCheck(made.goal, made.plan, warnings=(warning,) if changed else ())


def skill_hash(skill: Skill) -> str:
    """The hash of a skill's file; empty if it cannot be read."""
    try:
        return hashlib.sha256(read_all(skill.file)).hexdigest()
    except OSError:
        return ""


def _absence(names: Sequence[str], skills: Iterable[str], unusable: Mapping[str, str]) -> str:
    """Why skills cannot be used: they are switched off or broken, or gone."""
    gone = [name for name in names if name not in unusable]
    told = [f"{_named(gone)} gone{_nearest(gone[0], skills)}"] if gone else []
    return _joined([*told, *(f"the skill {name!r} is {unusable[name]}" for name in names if name in unusable)])


def _joined(faults: Sequence[str]) -> str:
    more = len(faults) - _MOST_FAULTS
    return "; ".join(faults[:_MOST_FAULTS]) + (f"; and {more} more" if more > 0 else "")


def _named(names: list[str]) -> str:
    shown = ", ".join(map(repr, names))
    return f"the skill {shown} is" if len(names) == 1 else f"the skills {shown} are"


def _nearest(name: str, skills: Iterable[str]) -> str:
    near = guess(name, skills)
    return f" (is it now {near!r}?)" if near else ""
