"""What keeps a plan that comes from a record from being run: its ids and its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.plan.plan import Plan


def graph_faults(plan: Plan) -> Iterator[str]:
    """Every fault of the plan's ids and edges."""
    import networkx as nx

    names = [task.id for task in plan.tasks]
    if len(set(names)) < len(names):
        yield "two tasks of 'plan' have the same id"
    for task in plan.tasks:
        yield from (
            f"task {task.id!r} of 'plan' depends on {before!r}, which is not in it"
            for before in task.depends_on
            if before not in plan
        )
    if not nx.is_directed_acyclic_graph(plan.graph):
        yield "the tasks of 'plan' depend on each other in a circle"
