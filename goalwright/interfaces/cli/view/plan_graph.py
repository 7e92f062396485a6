"""Draws the graph of a plan on a terminal: edges on the left, then id, title, and skill or tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import width as columns
from goalwright.interfaces.cli.view.output import escape_controls
from goalwright.traces.drawing.terminal import lines

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

_MAX_ID = 32
_GAP = 2


def draw(plan: Plan, width: int | None) -> str:
    """Return the graph as text; long lines are cut to the width of the terminal."""
    drawn = lines(plan)
    edges = max(len(line.edges) for line in drawn) + _GAP
    ids = min(max(columns.columns(task.id) for task in plan.tasks), _MAX_ID) + _GAP
    rows = []
    for line in drawn:
        text = line.edges.ljust(edges)
        if line.task is not None:
            task = line.task
            kind = task.name or ("" if task.action_type == "llm" else task.action_type)
            parts = [task.title if task.title != task.id else "", f"[{kind}]" if kind else ""]
            if line.before:
                parts.append(f"← {', '.join(line.before)}")
            text += columns.pad(escape_controls(task.id), ids) + escape_controls("  ".join(filter(None, parts)))
        elif line.answer:
            text += "answer"
        rows.append(columns.cut(text.rstrip(), width))
    return "\n".join(rows)
