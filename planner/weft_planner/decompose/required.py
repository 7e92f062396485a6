"""Skills that every plan must use: a plan without one is asked for again, and no task of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weft_planner.errors import SkillNotUsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_planner.plan.plan import Plan

_OF_A_MODEL = "say in the goal what it is for, try a stronger model with --model, or take it out of `require`"
_GIVEN = "add a task that uses it to the plan, or take it out of `require`"


def unused(plan: Plan, required: Sequence[str]) -> list[str]:
    """The required skills that no task of a plan uses; a question in place of a plan has no tasks."""
    used = {task.name for task in plan.tasks if task.action_type == "skill"}
    return [name for name in required if name not in used] if plan.tasks else []


def left_out(document: Any, required: Sequence[str]) -> list[str]:
    """The same of a plan document, which may have faults."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    tasks = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    used = [row.get("name") for row in tasks if row.get("action_type") == "skill"]
    return [name for name in required if name not in used] if tasks else []


def lost(before: Plan, after: Plan, required: Sequence[str]) -> list[str]:
    """The required skills that a plan used, and that it does not use any more once it is changed."""
    dropped = unused(after, required)
    return [name for name in dropped if name not in unused(before, dropped)]


def fault(name: str) -> str:
    """What a model is told whose plan does not use a required skill."""
    return (
        f"no task uses the skill {name!r}, which the user requires of every plan: give it to the task that it fits "
        f"best, with action_type 'skill' and name {name!r}"
    )


def missing(name: str, why: str) -> SkillNotUsed:
    """The error of a run that requires a skill which is not there."""
    what = f"no task was run: the skill {name!r} is required ([skills] require), but {why}"
    return SkillNotUsed(f"{what}; add or enable it, or take it out of `require`", faults=[why])


def refusal(names: Sequence[str], of: str, to_do: str = _OF_A_MODEL) -> SkillNotUsed:
    """The error of a run whose plan does not use these skills; `of` says whose plan it is."""
    skills = " and ".join(map(repr, names))
    what = f"no task was run: {of} does not use the required skill{'s' * (len(names) > 1)} {skills}"
    return SkillNotUsed(f"{what} ([skills] require); {to_do}", faults=[fault(name) for name in names])


def check(plan: Plan, required: Sequence[str]) -> None:
    """Raise if a given plan, which no model can be asked for again, does not use them."""
    if names := unused(plan, required):
        raise refusal(names, "the given plan", _GIVEN)
