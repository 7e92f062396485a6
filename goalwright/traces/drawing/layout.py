"""The layout of a plan: its layers, in which each task is below all its dependencies, and the labels of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import counted, cut, one_line
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


_SWEEPS = 4


def layers(plan: Plan) -> list[list[Task]]:
    """Return the tasks by layer, ordered to reduce edge crossings."""
    import networkx as nx  # slow to import

    by_id = {task.id: task for task in plan.tasks}
    depth: dict[str, int] = {}
    for task_id in nx.topological_sort(plan.graph):
        depth[task_id] = 1 + max((depth[before] for before in plan.graph.predecessors(task_id)), default=-1)
    rows: list[list[Task]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for task in plan.tasks:
        rows[depth[task.id]].append(by_id[task.id])
    for _ in range(_SWEEPS):
        for down in (True, False):
            _sweep(rows, plan, down=down)
    return rows


def _sweep(rows: list[list[Task]], plan: Plan, *, down: bool) -> None:
    """Order each layer by the mean position of its neighbours in the layers above or below."""
    positions = {task.id: _position(index, row) for row in rows for index, task in enumerate(row)}
    neighbours = plan.graph.predecessors if down else plan.graph.successors
    for row in rows if down else rows[::-1]:
        means = {}
        for task in row:
            near = [positions[neighbour] for neighbour in neighbours(task.id)]
            means[task.id] = sum(near) / len(near) if near else positions[task.id]
        row.sort(key=lambda task: means[task.id])
        positions |= {task.id: _position(index, row) for index, task in enumerate(row)}


def _position(index: int, row: list[Task]) -> float:
    """Return the relative position in a layer, from 0 to 1."""
    return (index + 0.5) / len(row)


_WIDTH = 44


def label(task: Task) -> list[str]:
    """Return the lines of a label: id, title, skill or tool, list, condition and loop condition."""
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
