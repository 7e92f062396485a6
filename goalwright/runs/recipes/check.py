"""Checks a recipe against today's skills, and fills in its values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.recipes import plan_texts
from goalwright.runs.recipes.recipe import number_in
from goalwright_planner.decompose import required
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.runs.recipes.recipe import Recipe
    from goalwright_planner.plan.known import Known
    from goalwright_skills.skill import Skill

_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True)
class RecipeCheck:
    """The goal and plan of a recipe with values; without a plan, `reason` says why the recipe cannot be used."""

    goal: str
    plan: Plan | None
    reason: str = ""
    warnings: tuple[str, ...] = ()


def check(
    recipe: Recipe,
    values: Mapping[str, str],
    known: Known,
    skills: Mapping[str, Skill],
    required_skills: Sequence[str] = (),
) -> RecipeCheck:
    """Fill in the values and check the plan against these skills; every plan must use the `required_skills`."""
    goal = plan_texts.filled(recipe.goal, values)
    missing = [skill.name for skill in recipe.skills if skill.name not in skills]
    if missing:
        return RecipeCheck(goal, None, _missing_skills(missing, skills, known.unusable))
    plan, faults = filled_plan(recipe, values, known)
    if plan is None:
        return RecipeCheck(goal, None, f"its plan can no longer run: {_first_faults(faults)}")
    if unused := required.unused(plan.to_dict(), required_skills):
        names = " and ".join(repr(one.skill) for one in unused)
        return RecipeCheck(goal, None, f"its plan does not use {names}, which every plan must ([skills] require)")
    changed = [skill.name for skill in recipe.skills if skill.sha256 and skill.sha256 != skill_hash(skills[skill.name])]
    warning = (
        f"the recipe {recipe.name!r} was saved with another version of {', '.join(changed)}; its plan is used unchanged"
    )
    return RecipeCheck(goal, plan, warnings=(warning,) if changed else ())


def filled_plan(recipe: Recipe, values: Mapping[str, str], known: Known) -> tuple[Plan | None, Sequence[str]]:
    """Return the plan with these values, or None and its faults; it is validated like any plan."""
    typed = {
        name: number_in(values.get(name, ""))
        for name in (row.name for row in recipe.parameters if row.type == "number")
    }
    numbers = {name: number for name, number in typed.items() if number is not None}
    try:
        document = plan_texts.with_values(recipe.plan, values, numbers, known.tools)
        reading = read_plan({"goal": recipe.goal, **document}, known)
    except RecursionError:
        return None, ["its plan is nested too deeply to be read"]
    if reading.faults:
        return None, reading.faults
    plan = Plan.from_dict(reading.document)
    return (plan, []) if plan.tasks else (None, ["its plan has no tasks"])


def skill_hash(skill: Skill) -> str:
    """Return the hash of a skill's file; empty if it cannot be read."""
    try:
        return hashlib.sha256(read_all(skill.file)).hexdigest()
    except OSError:
        return ""


def _missing_skills(names: Sequence[str], skills: Iterable[str], unusable: Mapping[str, str]) -> str:
    """Say which skills are gone, and why others are disabled or broken."""
    faults = [f"the skill {name!r} is {unusable[name]}" for name in names if name in unusable]
    if gone := [name for name in names if name not in unusable]:
        subject = f"the skill {gone[0]!r} is" if len(gone) == 1 else f"the skills {', '.join(map(repr, gone))} are"
        near = guess(gone[0], skills)
        faults.insert(0, f"{subject} gone" + (f" (is it now {near!r}?)" if near else ""))
    return _first_faults(faults)


def _first_faults(faults: Sequence[str]) -> str:
    left = len(faults) - _MOST_FAULTS
    return "; ".join(faults[:_MOST_FAULTS]) + (f"; and {left} more" if left > 0 else "")
