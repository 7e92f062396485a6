"""A recipe with values: the goal and the plan that run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.recipes import plan_texts
from goalwright.runs.recipes.recipe import number_in
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.recipes.recipe import Recipe
    from goalwright_planner.plan.validate import Known


@dataclass(frozen=True, slots=True)
class FilledRecipe:
    """A recipe with values: its goal, and its plan or all that is wrong with that."""

    goal: str
    plan: Plan | None
    faults: tuple[str, ...] = ()


def fill(recipe: Recipe, values: Mapping[str, str], known: Known) -> FilledRecipe:
    """The goal and the plan with these values, checked against the skills and tools of today like any plan."""
    goal = recipe.pattern.filled(values)
    typed = {one.name: number_in(values.get(one.name, "")) for one in recipe.parameters if one.type == "number"}
    numbers = {name: number for name, number in typed.items() if number is not None}
    try:
        plan = plan_texts.with_values(recipe.plan, values, numbers, known.tools)
        reading = read_plan({"goal": goal, **plan}, known)
    except RecursionError:
        return FilledRecipe(goal, None, ("its plan is nested too deeply to be read",))
    if reading.faults:
        return FilledRecipe(goal, None, tuple(reading.faults))
    made = Plan.from_dict(reading.document)
    return FilledRecipe(goal, made) if made.tasks else FilledRecipe(goal, None, ("its plan has no tasks",))
