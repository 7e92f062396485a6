"""What a box says about its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import counted, cut, one_line
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from goalwright_planner.plan.task import Task

_WIDTH = 44


def label(task: Task) -> list[str]:
    """The id, the title if it says more, the skill or tool, and what decides whether and how often: one line each."""
    lines = [task.id]
    if task.title and task.title != task.id:
        lines.append(cut(one_line(task.title), _WIDTH))
    if task.name:
        lines.append(f"{task.action_type}: {task.name}")
    elif task.action_type == "goal":
        lines.append("goal")
    if task.for_each is not None:
        items = task.for_each if isinstance(task.for_each, str) else counted(len(task.for_each), "item")
        lines.append(cut(one_line(f"for each: {items}"), _WIDTH))
    if task.when is not None:
        condition = task.when if isinstance(task.when, str) else task.when.get("ask", "")
        lines.append(cut(one_line(f"when: {condition}"), _WIDTH))
    if task.repeat is not None:
        lines.append(cut(one_line(f"until: {task.repeat.text}"), _WIDTH))
    return [printable(line, "�") for line in lines]
