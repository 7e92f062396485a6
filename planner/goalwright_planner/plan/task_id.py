"""The ids of planned tasks, and of tasks that grow while a plan runs.

The id of a grown task has characters that a planned id cannot have: `review[1]` is the first item of the task `review`,
`research/sources` a task of the sub-goal `research`, and `draft#2` the second round of the task `draft`. All nest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PLANNED = re.compile(r"[\w-]{1,64}")
MAX_LENGTH = 200

_GROWN = re.compile(r"(?P<parent>.+?)(?:\[(?P<number>[1-9]\d*)\]|#(?P<round>[1-9]\d*)|/[\w-]{1,64})", re.DOTALL)
_ROUND = "#"


def item_id(parent: str, number: int) -> str:
    """Return the id of an item of a task; numbers start at 1."""
    return f"{parent}[{number}]"


def sub_task_id(parent: str, planned: str) -> str:
    """Return the id of a task in the plan of a sub-goal."""
    return f"{parent}/{planned}"


def round_id(task_id: str, number: int) -> str:
    """Return the id of a round of a repeated task; the first round is the task itself."""
    return f"{task_id}{_ROUND}{number}" if number > 1 else task_id


def parent_of(task_id: str) -> str | None:
    """Return the id of the parent of a grown task; None for a planned one."""
    if not task_id.endswith("]") and "/" not in task_id and _ROUND not in task_id:  # nearly all ids: be fast
        return None
    match = _GROWN.fullmatch(task_id)
    return match["parent"] if match else None


def with_parents(task_id: str) -> list[str]:
    """Return the id of a task, its parent, its grandparent and so on."""
    ids = [task_id]
    while (parent := parent_of(ids[-1])) is not None:
        ids.append(parent)
    return ids


def root_of(task_id: str) -> str:
    """Return the id of the planned task that a task is, or grew from."""
    while (parent := parent_of(task_id)) is not None:
        task_id = parent
    return task_id


def number_of(task_id: str) -> int | None:
    """Return the number of an item, or None if the task is not an item."""
    match = _GROWN.fullmatch(task_id)
    return int(match["number"]) if match and match["number"] else None


def round_of(task_id: str) -> int | None:
    """Return the number of a round, starting at 2, or None if the task is not a later round."""
    match = _GROWN.fullmatch(task_id) if _ROUND in task_id else None
    return int(match["round"]) if match and match["round"] else None


def in_round(task_id: str) -> bool:
    """Whether a task is a later round of another, or a part of one."""
    return _ROUND in task_id


def written_id(task_id: str) -> str:
    """Return the id by which the texts of a task refer to it: without numbers of items and rounds."""
    while number_of(task_id) is not None or round_of(task_id) is not None:
        task_id = parent_of(task_id) or ""
    return task_id


def place_of(task_id: str) -> tuple[int, int]:
    """Return the sort key of the parts of a task: items of the first round by number, then the other rounds."""
    return round_of(task_id) or 0, number_of(task_id) or 0


def in_order(ids: Iterable[str]) -> list[str]:
    """Return ids in their order, with grown tasks right after their parent, by number."""
    parts: dict[str | None, list[str]] = {}
    distinct = dict.fromkeys(ids)
    for task_id in distinct:
        parent = parent_of(task_id)
        parts.setdefault(parent if parent in distinct else None, []).append(task_id)
    ordered: list[str] = []
    pending = parts.get(None, [])[::-1]
    while pending:
        ordered.append(pending.pop())
        pending += sorted(parts.get(ordered[-1], ()), key=place_of)[::-1]
    return ordered


def depth_of(task_id: str) -> int:
    """Return how many sub-goals a task is inside of."""
    return task_id.count("/")
