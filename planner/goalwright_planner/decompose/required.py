"""Skills that every plan must use: a plan without one is asked for again, and no task of it runs.

A task that a condition may leave out does not count. One for each item of a list does: without items, there is nothing
to use a skill for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goalwright_planner.errors import SkillNotUsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from goalwright_planner.plan.plan import Plan

# A run keeps the list that it began with.
_TAKE_OUT = "take it out of `require`, which counts for new runs"
_OF_A_MODEL = f"say in the goal what it is for, try a stronger model with --model, or {_TAKE_OUT}"
_GIVEN = f"add a task that uses it to the plan, without a condition, or {_TAKE_OUT}"


def unused(plan: Plan, required: Sequence[str]) -> list[str]:
    """The required skills that a plan may not use; a question in place of a plan has no tasks."""
    return left_out(plan.to_dict(), required) if required else []


def left_out(document: Any, required: Sequence[str]) -> list[str]:
    """The same of a plan document, which may have faults."""
    if not required or not (rows := _rows(document)):
        return []
    certain = _certain(rows)
    used = _named(row for row in rows if id(row) in certain)
    return [name for name in required if name not in used]


def faults(document: Any, names: Sequence[str]) -> dict[str, str]:
    """What a model is told whose plan may not use these required skills, by their names."""
    named = _named(_rows(document))
    return {name: conditional_fault(name) if name in named else fault(name) for name in names}


def told(faults: Collection[str], required: Sequence[str]) -> dict[str, str]:
    """Of the faults of a plan, those that say that it may not use a required skill, by the skill's name."""
    each = ((name, text) for name in required for text in (fault(name), conditional_fault(name)))
    return {name: text for name, text in each if text in faults}


def _rows(document: Any) -> list[Mapping[str, Any]]:
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _named(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    names = (row.get("name") for row in rows if row.get("action_type") == "skill")
    return {name for name in names if isinstance(name, str)}


def _certain(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """The tasks that no condition can leave out, by the identity of their rows.

    Left out are those that have one, and those that wait for such tasks alone.
    """
    waiting: dict[str, list[Mapping[str, Any]]] = {}
    begin: list[Mapping[str, Any]] = []
    for row in rows:
        before = row.get("depends_on")
        names = [name for name in before if isinstance(name, str)] if isinstance(before, list | tuple) else []
        if row.get("when") is not None:
            continue
        if not names:
            begin.append(row)
        for name in names:
            waiting.setdefault(name, []).append(row)
    found: set[int] = set()
    while begin:
        row = begin.pop()
        if id(row) not in found:
            found.add(id(row))
            begin += waiting.get(str(row.get("id")), ())
    return found


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


def conditional_fault(name: str) -> str:
    """What a model is told whose plan uses a required skill only under a condition."""
    return (
        f"only a condition decides whether a task uses the skill {name!r}, which the user requires of every plan: give "
        "it to a task without `when` that does not wait for such tasks alone"
    )


def missing(name: str, why: str) -> SkillNotUsed:
    """The error of a run that requires a skill which is not there."""
    what = f"no task was run: the skill {name!r} is required ([skills] require), but {why}"
    return SkillNotUsed(f"{what}; add or enable it, or {_TAKE_OUT}", faults=[why])


def refusal(faults: Mapping[str, str], of: str, to_do: str = _OF_A_MODEL) -> SkillNotUsed:
    """The error of a run whose plan has these faults, by the skills that they are about; `of` says whose plan it is."""
    skills = " and ".join(map(repr, faults))
    case = " in every case" if any(text == conditional_fault(name) for name, text in faults.items()) else ""
    what = f"no task was run: {of} does not use the required skill{'s' * (len(faults) > 1)} {skills}{case}"
    return SkillNotUsed(f"{what} ([skills] require); {to_do}", faults=list(faults.values()))


def check(plan: Plan, required: Sequence[str]) -> None:
    """Raise if a given plan, which no model can be asked for again, may not use them."""
    if names := unused(plan, required):
        raise refusal(faults(plan.to_dict(), names), "the given plan", _GIVEN)
