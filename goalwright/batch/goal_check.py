"""Faults of a batch goal that its file alone cannot show: skills that it cannot ask for, plans that cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.runs.goal import Goal
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.errors import InputError
from goalwright_skills.text.nearest import known_are

if TYPE_CHECKING:
    from goalwright.batch.goals import BatchGoal, Check
    from goalwright.workspace.workspace import Workspace
    from goalwright_planner.plan.validate import Known


def goal_check(workspace: Workspace) -> Check:
    """A check of goals against the skills and tools of a workspace; it returns what is wrong, or nothing."""
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


def _absence(name: str, known: Known) -> str:
    why = known.unusable.get(name)
    return f"the skill {name!r} is {why}" if why else f"there is no skill {name!r}"
