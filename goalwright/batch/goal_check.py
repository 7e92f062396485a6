"""Checks batch goals against a workspace: their skills, plans and recipes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright.runs.goal import Goal
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import known_are

if TYPE_CHECKING:
    from goalwright.batch.goals import BatchGoal, Check, Fill
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.workspace.workspace import Workspace
    from goalwright_planner.plan.known import Known


def goal_check(workspace: Workspace) -> Check:
    """Return a function that checks a goal against a workspace and returns its faults as text."""
    known = workspace.known()
    closed = [skill for skill in workspace.skills.active() if not skill.user_invocable]

    def check(goal: BatchGoal) -> str:
        faults = [
            f"{_absence(name, known)}; {known_are(name, list(known.skills))}"
            for name in goal.skills
            if name not in known.skills
        ]
        faults += workspace.skills.uncallable(goal.skills, closed)
        try:
            Goal(goal.text)
        except InputError as error:
            faults.append(error.message)
        if goal.plan is not None:
            faults += [f"its plan: {fault}" for fault in read_plan(goal.plan, known).faults]
        return "; ".join(faults)

    return check


def recipe_filler(recipes: WorkspaceRecipes) -> Fill:
    """Return a function that fills in a goal's recipe; it raises if a value is invalid."""

    def fill(goal: BatchGoal) -> BatchGoal:
        if not goal.recipe:
            return goal
        made = recipes.by_name(goal.recipe, goal.values)
        plan = made.plan.to_dict() if made.plan is not None else None
        text = goal.text or made.text
        return replace(goal, text=text, plan=plan, files=made.files, recipe_use=made.recipe)

    return fill


def _absence(name: str, known: Known) -> str:
    why = known.unusable.get(name)
    return f"the skill {name!r} is {why}" if why else f"there is no skill {name!r}"
