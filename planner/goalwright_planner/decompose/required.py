"""Skills that every plan must use: a plan that may not use one is refused, and none of its tasks runs.

A task that a condition may leave out does not count. A task for each item of a list counts: without items, there is
nothing to use the skill for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.errors import SkillNotUsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright_planner.plan.plan import Plan

_TAKE_OUT = "take it out of `require`, which counts for new runs"  # a run keeps the list that it started with
_ASK_BETTER = f"say in the goal what it is for, choose a stronger model, or {_TAKE_OUT}"
_EDIT_PLAN = f"add a task that uses it to the plan, without a condition, or {_TAKE_OUT}"


@dataclass(frozen=True, slots=True)
class Unused:
    """A required skill that a plan may not use; `conditional` if a task uses it, but only under a condition."""

    skill: str
    conditional: bool = False

    @property
    def fault(self) -> str:
        """The fault that the model is asked to correct."""
        if self.conditional:
            return (
                f"only a condition decides whether a task uses the skill {self.skill!r}, which the user requires of "
                "every plan: give it to a task without `when` that does not depend on such tasks alone"
            )
        return (
            f"no task uses the skill {self.skill!r}, which the user requires of every plan: give it to the task that "
            f"it fits best, with action_type 'skill' and name {self.skill!r}"
        )


def unused(document: Any, required: Sequence[str]) -> tuple[Unused, ...]:
    """The required skills that a plan document may not use; the document may have faults.

    A document without tasks, such as a question, needs no skills.
    """
    if not required or not (rows := _rows(document)):
        return ()
    used, named = _skills(_unconditional(rows)), _skills(rows)
    return tuple(Unused(skill, conditional=skill in named) for skill in required if skill not in used)


def lost(before: Plan, after: Plan, required: Sequence[str]) -> tuple[Unused, ...]:
    """The required skills that a plan used before a change, and does not use after it."""
    if not (now := unused(after.to_dict(), required)):
        return ()
    earlier = {skill.skill for skill in unused(before.to_dict(), required)}
    return tuple(skill for skill in now if skill.skill not in earlier)


def check(plan: Plan, required: Sequence[str]) -> None:
    """Raise if a given plan, which no model can correct, may not use them."""
    if skills := unused(plan.to_dict(), required):
        raise refusal(skills, "the given plan", _EDIT_PLAN)


def refusal(skills: Sequence[Unused], plan: str, advice: str = _ASK_BETTER) -> SkillNotUsed:
    """The error of a run whose plan may not use these skills; `plan` names the plan."""
    names = " and ".join(repr(one.skill) for one in skills)
    plural, always = "s" * (len(skills) > 1), " in every case" * any(one.conditional for one in skills)
    message = f"no task was run: {plan} does not use the required skill{plural} {names}{always}"
    return SkillNotUsed(
        f"{message} ([skills] require); {advice}",
        skills=[one.skill for one in skills],
        faults=[one.fault for one in skills],
    )


def absence(skill: str, reason: str) -> SkillNotUsed:
    """The error of a run that requires a skill which cannot be used."""
    message = f"no task was run: the skill {skill!r} is required ([skills] require), but {reason}"
    return SkillNotUsed(f"{message}; add or enable it, or {_TAKE_OUT}", skills=[skill], faults=[reason])


def _rows(document: Any) -> list[Mapping[str, Any]]:
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _skills(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    names = (row.get("name") for row in rows if row.get("action_type") == "skill")
    return {name for name in names if isinstance(name, str)}


def _unconditional(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The tasks that run in every case: without a condition, and after at least one such task if they depend on any."""
    dependents: dict[str, list[Mapping[str, Any]]] = {}
    queue: list[Mapping[str, Any]] = []
    for row in rows:
        if row.get("when") is not None:
            continue
        value = row.get("depends_on")
        dependencies = [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []
        if not dependencies:
            queue.append(row)
        for name in dependencies:
            dependents.setdefault(name, []).append(row)
    reached: dict[int, Mapping[str, Any]] = {}
    while queue:
        row = queue.pop()
        if id(row) not in reached:
            reached[id(row)] = row
            queue += dependents.get(str(row.get("id")), ())
    return list(reached.values())
