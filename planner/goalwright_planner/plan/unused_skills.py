"""Skills that were selected with certainty: whether a plan uses them, or gives a reason in `unused`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goalwright_planner.plan.task import Task

KEY = "unused"
RESPELT = f"'{KEY}' respelt"
DROPPED = f"what in '{KEY}' does not say of a skill, by its name, why no task uses it was dropped"
_NAME = ("name", "skill")
_REASON = ("reason", "why")
_LONGEST_REASON = 300
_SHOWN = 6


def reasons_in(value: object) -> dict[str, str]:
    """Return the reasons by skill, from an object or from rows with a name and a reason."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        rows = value if isinstance(value, list) else []
        pairs = [(_first(row, _NAME), _first(row, _REASON)) for row in rows if isinstance(row, Mapping)]
    reasons: dict[str, str] = {}
    for name, reason in pairs:
        if isinstance(name, str) and isinstance(reason, str):
            reasons.setdefault(name, reason)
    return reasons


def repair(value: object, reasons: Mapping[str, str]) -> str:
    """Return how the reasons were repaired; empty if they were not."""
    if value is None or value == reasons:
        return ""
    return RESPELT if isinstance(value, list) and len(value) == len(reasons) else DROPPED


def _first(row: Mapping[str, object], keys: Sequence[str]) -> object:
    return next((row[key] for key in keys if key in row), None)


def used_in(tasks: Iterable[Task], skill: str) -> bool:
    """Whether a task uses a skill, or is a goal that names it."""
    return any(_uses(task.action_type, task.name, task.instruction, skill) for task in tasks)


def left_out(document: Any, certain: Sequence[str]) -> tuple[str, ...]:
    """Return the skills that a plan document neither uses nor gives a reason for; it may have faults."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or not rows:
        return ()
    value = document.get(KEY)
    reasons = value if isinstance(value, Mapping) else {}
    tasks = [row for row in rows if isinstance(row, Mapping)]
    return tuple(
        name
        for name in certain
        if not any(_uses(row.get("action_type"), row.get("name"), row.get("instruction"), name) for row in tasks)
        and not str(reasons.get(name) or "").strip()
    )


def warnings(tasks: Sequence[Task], certain: Sequence[str], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each of these skills that no task uses, with the reason if the plan gives one."""
    for name in certain:
        if not used_in(tasks, name):
            reason = shorten(reasons.get(name) or "", _LONGEST_REASON)
            yield f"the plan does not use the skill {name!r}, which was selected with certainty: " + (
                reason or "it gives no reason"
            )


def unknown_names(reasons: Mapping[str, str], known: Sequence[str]) -> str:
    """Return a warning about reasons for unknown skills; empty if all are known."""
    unknown = [repr(name)[:80] for name in reasons if name not in known]
    if not unknown:
        return ""
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    return f"'{KEY}' of the plan has names that are not skills here: {', '.join(unknown[:_SHOWN])}{more}"


def _uses(action_type: object, name: object, instruction: object, skill: str) -> bool:
    if action_type == "goal" and isinstance(instruction, str):
        return re.search(rf"(?<![\w-]){re.escape(skill)}(?![\w-])", instruction) is not None
    return action_type == "skill" and name == skill
