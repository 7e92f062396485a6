"""A plan in the language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.traces.drawing.label import label

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

_SHAPES = {"skill": "box, style=rounded", "tool": "component", "llm": "box"}


def dot(plan: Plan) -> str:
    """The digraph's text."""
    plan = plan.without_grown()
    numbers = {task.id: f"t{number}" for number, task in enumerate(plan.tasks, 1)}
    lines = ["digraph plan {", "    node [fontname=sans, fontsize=11];"]
    for task in plan.tasks:
        text = "\\n".join(map(_escaped, label(task)))
        lines.append(f'    {numbers[task.id]} [label="{text}", shape={_SHAPES.get(task.action_type, "box")}];')
    lines += [f"    {numbers[before]} -> {numbers[task.id]};" for task in plan.tasks for before in task.depends_on]
    if plan.needs_synthesis:
        lines.append("    answer [shape=hexagon];")
        lines += [f"    {numbers[task.id]} -> answer;" for task in plan.finals]
    return "\n".join([*lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
