"""A plan as a Mermaid flowchart, which GitHub and many editors show in Markdown, or as a Graphviz digraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.traces.drawing.layout import label

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

_MERMAID_SHAPES = {"skill": ('(["', '"])'), "tool": ('[["', '"]]')}
_MERMAID_BOX = ('["', '"]')
_DOT_SHAPES = {"skill": "box, style=rounded", "tool": "component"}


def mermaid(plan: Plan) -> str:
    """Return the flowchart. Nodes are numbered because task ids can be Mermaid keywords."""
    plan = plan.without_grown()
    nodes = _node_names(plan)
    lines = ["flowchart TD"]
    for task in plan.tasks:
        begin, end = _MERMAID_SHAPES.get(task.action_type, _MERMAID_BOX)
        lines.append(f"    {nodes[task.id]}{begin}{'<br>'.join(map(_mermaid_text, label(task)))}{end}")
    lines += [f"    {nodes[before]} --> {nodes[task.id]}" for task in plan.tasks for before in task.depends_on]
    if plan.needs_synthesis:
        lines.append('    answer{{"answer"}}')
        lines += [f"    {nodes[task.id]} --> answer" for task in plan.finals]
    return "\n".join(lines) + "\n"


def dot(plan: Plan) -> str:
    """Return the digraph."""
    plan = plan.without_grown()
    nodes = _node_names(plan)
    lines = ["digraph plan {", "    node [fontname=sans, fontsize=11];"]
    for task in plan.tasks:
        text = "\\n".join(map(_dot_text, label(task)))
        lines.append(f'    {nodes[task.id]} [label="{text}", shape={_DOT_SHAPES.get(task.action_type, "box")}];')
    lines += [f"    {nodes[before]} -> {nodes[task.id]};" for task in plan.tasks for before in task.depends_on]
    if plan.needs_synthesis:
        lines.append("    answer [shape=hexagon];")
        lines += [f"    {nodes[task.id]} -> answer;" for task in plan.finals]
    return "\n".join([*lines, "}"]) + "\n"


def _node_names(plan: Plan) -> dict[str, str]:
    return {task.id: f"t{number}" for number, task in enumerate(plan.tasks, 1)}


def _mermaid_text(text: str) -> str:
    """Escape everything except letters, digits and plain punctuation as entity codes."""
    return "".join(
        character if character.isalnum() or character in " -_.,:/" else f"#{ord(character)};" for character in text
    )


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
