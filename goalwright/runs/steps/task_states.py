"""The states of a plan's tasks for a request to change it, and the reasons for the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.capture.beginnings import beginnings
from goalwright_executor.results.outcome import handled
from goalwright_planner.decompose.replan import TaskState
from goalwright_planner.plan.task_id import in_order, parent_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.history.replans import TaskEnd
    from goalwright_planner.plan.plan import Plan

# Limits in characters on the error or output of each task, and on all of them, in the request.
_EACH = 1_500
_IN_ALL = 20_000
_NO_RESULT = ("failed", "denied")


def states(
    plan: Plan, tasks: Mapping[str, TaskEnd], capture: Capture, items: Mapping[str, TaskEnd] | None = None
) -> tuple[TaskState, ...]:
    """Return the state of each task, with the beginning of its output or error; a waiting task is pending.

    Failed `items` of final tasks are included.
    """
    lost = _lost_items(plan, tasks, items or {})
    ends = _ends(plan, {name: end for name, end in tasks.items() if end.status != "waiting"})
    texts = {name: (end.output if end.status == "done" else end.error) or "" for name, end in ends.items()}
    shown = beginnings(texts | {name: end.error or "" for name, end in lost.items()}, _EACH, _IN_ALL, capture)
    return (
        *(
            TaskState(task.id, ends[task.id].status if task.id in ends else "pending", shown.get(task.id, ""))
            for task in plan.tasks
        ),
        *(TaskState(name, end.status, shown.get(name, "")) for name, end in lost.items()),
    )


def losses(plan: Plan, tasks: Mapping[str, TaskEnd], items: Mapping[str, TaskEnd] | None = None) -> list[str]:
    """Return a reason for each failed task that leaves others skipped or the answer without its result.

    Failed `items` of a final task are reasons too; a failure that another task has handled is not.
    """
    status = {name: end.status for name, end in _ends(plan, tasks).items()}
    failed = [task for task in plan.tasks if status.get(task.id) == "failed" and task.id not in plan.replaced]
    finals = {task.id for task in plan.finals} if failed else set()
    planned_for = handled(plan.tasks, status.get) if failed else {}
    reasons = []
    for task in failed:
        behind = plan.behind([task.id]) - planned_for.keys()
        skipped = [other.id for other in plan.tasks if other.id in behind and status.get(other.id) == "skipped"]
        if skipped:
            reasons.append(f"task {task.id!r} failed, and was needed for: {', '.join(skipped)}")
        elif task.id in finals:
            reasons.append(f"task {task.id!r} failed, and the answer lacks its result")
    lost = _lost_items(plan, tasks, items or {})
    return reasons + [f"item {name!r} failed, and the answer lacks its result" for name in lost]


def _lost_items(plan: Plan, tasks: Mapping[str, TaskEnd], items: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """Return the failed items of final tasks that are done without them."""
    failed = {name: end for name, end in items.items() if end.status == "failed" and name not in plan.replaced}
    if not failed:
        return {}
    finals = {task.id for task in plan.finals if task.id in tasks and tasks[task.id].status == "done"}
    status = {name: end.status for name, end in {**tasks, **failed}.items()}
    planned_for = handled(plan.tasks, status.get)
    return {name: failed[name] for name in in_order(failed) if parent_of(name) in finals and name not in planned_for}


def objections(plan: Plan, wrong: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the reasons that workers gave for calling the plan wrong."""
    return [
        f"the worker of task {task.id!r} says that the plan is wrong: {reason}"
        for task in plan.tasks
        for reason in wrong.get(task.id, ())
    ]


def _ends(plan: Plan, tasks: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """Return the ends of a plan's tasks, without skipped tasks that may run now, after a change of the plan."""
    status = {name: end.status for name, end in tasks.items()}
    without = [task.id for task in plan.tasks if status.get(task.id) in _NO_RESULT and task.id not in plan.replaced]
    behind = plan.behind(without)
    ended = ((task.id, tasks[task.id]) for task in plan.tasks if task.id in tasks)
    return {name: end for name, end in ended if end.status != "skipped" or name in behind}
