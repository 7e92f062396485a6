"""Items that grew while the plan was being written: they join the plan that is accepted, if their task stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft_planner.plan.plan import Plan, Task


def parts_in(tasks: Iterable[Task], of: str | None = None) -> tuple[Task, ...]:
    """The tasks that grew, all of them or those of one task."""
    grown = ((task, parent_of(task.id)) for task in tasks)
    return tuple(task for task, parent in grown if parent is not None and of in (None, parent))


def with_parts(plan: Plan, early: Iterable[Task]) -> Plan:
    """A plan that was accepted, with the items that its tasks have grown into already."""
    parts = tuple(part for part in parts_in(early) if (parent_of(part.id) or "") in plan)
    return plan.with_tasks((*plan.tasks, *parts), grown=len(parts)) if parts else plan
