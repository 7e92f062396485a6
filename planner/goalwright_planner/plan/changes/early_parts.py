"""Items and rounds that grew while the plan was being written: they join the one that is accepted, with their task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.plan.task_id import parent_of, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


def parts_in(tasks: Iterable[Task], of: str | None = None) -> tuple[Task, ...]:
    """The tasks that grew, all of them or those of one task."""
    grown = (task for task in tasks if parent_of(task.id) is not None)
    return tuple(task for task in grown if of is None or root_of(task.id) == of)


def with_parts(plan: Plan, early: Iterable[Task]) -> Plan:
    """A plan that was accepted, with what its tasks have grown into already."""
    parts = tuple(part for part in parts_in(early) if root_of(part.id) in plan)
    return plan.with_tasks((*plan.tasks, *parts), grown=len(parts)) if parts else plan
