"""The layers of a plan: a task stands one layer below the lowest task that it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

_SWEEPS = 4


def layers(plan: Plan) -> list[list[Task]]:
    """The tasks by layer, ordered so that few edges cross."""
    import networkx as nx  # slow to import, and a run's first call leaves without it

    by_id = {task.id: task for task in plan.tasks}
    depth: dict[str, int] = {}
    for task_id in nx.topological_sort(plan.graph):
        depth[task_id] = 1 + max((depth[before] for before in plan.graph.predecessors(task_id)), default=-1)
    found: list[list[Task]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for task in plan.tasks:
        found[depth[task.id]].append(by_id[task.id])
    for _ in range(_SWEEPS):
        for down in (True, False):
            _sweep(found, plan, down=down)
    return found


def _sweep(found: list[list[Task]], plan: Plan, *, down: bool) -> None:
    """Order each layer by the mean place of its neighbours in the layers before it, or after it."""
    place = {task.id: _middle(at, row) for row in found for at, task in enumerate(row)}
    neighbours = plan.graph.predecessors if down else plan.graph.successors
    for row in found if down else found[::-1]:
        means = {}
        for task in row:
            near = [place[neighbour] for neighbour in neighbours(task.id)]
            means[task.id] = sum(near) / len(near) if near else place[task.id]
        row.sort(key=lambda task: means[task.id])
        place |= {task.id: _middle(at, row) for at, task in enumerate(row)}


def _middle(at: int, row: list[Task]) -> float:
    """Where a task stands in its layer, from 0 to 1: layers have different lengths."""
    return (at + 0.5) / len(row)
