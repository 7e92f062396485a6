"""A plan as a Mermaid flowchart, which GitHub and many editors show in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.traces.drawing.label import label

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

_SHAPES = {"skill": ('(["', '"])'), "tool": ('[["', '"]]')}
_BOX = ('["', '"]')


def mermaid(plan: Plan) -> str:
    """The flowchart's text; nodes are numbered, since ids may be words of the language."""
    plan = plan.without_grown()
    numbers = {task.id: f"t{number}" for number, task in enumerate(plan.tasks, 1)}
    lines = ["flowchart TD"]
    for task in plan.tasks:
        begin, end = _SHAPES.get(task.action_type, _BOX)
        lines.append(f"    {numbers[task.id]}{begin}{'<br>'.join(map(_escaped, label(task)))}{end}")
    lines += [f"    {numbers[before]} --> {numbers[task.id]}" for task in plan.tasks for before in task.depends_on]
    if plan.needs_synthesis:
        lines.append('    answer{{"answer"}}')
        lines += [f"    {numbers[task.id]} --> answer" for task in plan.finals]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """A text as entity codes for whatever is neither a letter, a digit nor plain punctuation."""
    return "".join(
        character if character.isalnum() or character in " -_.,:/" else f"#{ord(character)};" for character in text
    )
