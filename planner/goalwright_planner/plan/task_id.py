"""Task ids: those that a plan gives its tasks, and those of tasks that grow while it runs.

A grown task's id has characters that a planned one cannot have: `review[1]` is the first item of the task `review`,
`research/sources` a task of the sub-goal `research`, `draft#2` the second round of the task `draft`, which is the first
itself. All nest.
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
    """The id of a task's item; numbers start at 1."""
    return f"{parent}[{number}]"


def sub_task_id(parent: str, planned: str) -> str:
    """The id of a task in the plan of a sub-goal."""
    return f"{parent}/{planned}"


def round_id(task_id: str, number: int) -> str:
    """The id of a round of a task that is repeated; the first round is the task itself."""
    return f"{task_id}{_ROUND}{number}" if number > 1 else task_id


def parent_of(task_id: str) -> str | None:
    """The id of the task that a grown task is a part of; None if it did not grow."""
    if (
        not task_id.endswith("]") and "/" not in task_id and _ROUND not in task_id
    ):  # nearly all ids, and every plan asks for each of them
        return None
    match = _GROWN.fullmatch(task_id)
    return match["parent"] if match else None


def with_parents(task_id: str) -> list[str]:
    """The id of a task and those of all tasks that it is a part of."""
    ids = [task_id]
    while (parent := parent_of(ids[-1])) is not None:
        ids.append(parent)
    return ids


def root_of(task_id: str) -> str:
    """The id of the planned task that a grown one is a part of, however deep; its own if it did not grow."""
    while (parent := parent_of(task_id)) is not None:
        task_id = parent
    return task_id


def number_of(task_id: str) -> int | None:
    """The number of an item among its task's items; None if the task is not an item."""
    match = _GROWN.fullmatch(task_id)
    return int(match["number"]) if match and match["number"] else None


def round_of(task_id: str) -> int | None:
    """The number of a round of a task, from 2; None if the task is not such a round."""
    match = _GROWN.fullmatch(task_id) if _ROUND in task_id else None
    return int(match["round"]) if match and match["round"] else None


def in_round(task_id: str) -> bool:
    """Whether a task is a round of another, from the second on, or a part of one."""
    return _ROUND in task_id


def written_id(task_id: str) -> str:
    """The id by which a task's own texts refer to it: without the numbers of items and rounds."""
    while number_of(task_id) is not None or round_of(task_id) is not None:
        task_id = parent_of(task_id) or ""
    return task_id


def place_of(task_id: str) -> tuple[int, int]:
    """What parts of a task are sorted by: those of its first round in their order, then the other rounds."""
    return round_of(task_id) or 0, number_of(task_id) or 0


def in_order(ids: Iterable[str]) -> list[str]:
    """Ids in their order, those of grown tasks right after the task that they are parts of, by their numbers."""
    parts: dict[str | None, list[str]] = {}
    known = dict.fromkeys(ids)
    for task_id in known:
        parent = parent_of(task_id)
        parts.setdefault(parent if parent in known else None, []).append(task_id)
    ordered: list[str] = []
    left = parts.get(None, [])[::-1]
    while left:
        ordered.append(left.pop())
        left += sorted(parts.get(ordered[-1], ()), key=place_of)[::-1]
    return ordered


def depth_of(task_id: str) -> int:
    """How many sub-goals a task is inside of."""
    return task_id.count("/")
