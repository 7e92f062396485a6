"""How the tasks of a plan stand when it is to change, and what speaks for a change."""

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

# Characters of a task's error or output that the request shows, of one and of all.
_EACH = 1_500
_IN_ALL = 20_000
_NO_RESULT = ("failed", "denied")


def states(
    plan: Plan, tasks: Mapping[str, TaskEnd], capture: Capture, items: Mapping[str, TaskEnd] | None = None
) -> tuple[TaskState, ...]:
    """How each task of a plan stands, with the beginning of its output or error; a task that only waits is pending.

    So stand the `items` that failed and that the answer lacks.
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
    """A reason to change the plan for each failed task that leaves others skipped, or the answer without its result.

    The answer also lacks failed `items` of a final task. A failure that another task has handled is no reason.
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
    """The failed items of final tasks that are done without them."""
    failed = {name: end for name, end in items.items() if end.status == "failed" and name not in plan.replaced}
    if not failed:
        return {}
    finals = {task.id for task in plan.finals if task.id in tasks and tasks[task.id].status == "done"}
    status = {name: end.status for name, end in {**tasks, **failed}.items()}
    planned_for = handled(plan.tasks, status.get)
    return {name: failed[name] for name in in_order(failed) if parent_of(name) in finals and name not in planned_for}


def objections(plan: Plan, wrong: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A reason to change the plan for each one that a worker gave."""
    return [
        f"the worker of task {task.id!r} says that the plan is wrong: {reason}"
        for task in plan.tasks
        for reason in wrong.get(task.id, ())
    ]


def _ends(plan: Plan, tasks: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """How the tasks of a plan ended; one that was skipped before the plan was changed has not if it may run now."""
    status = {name: end.status for name, end in tasks.items()}
    without = [task.id for task in plan.tasks if status.get(task.id) in _NO_RESULT and task.id not in plan.replaced]
    behind = plan.behind(without)
    ended = ((task.id, tasks[task.id]) for task in plan.tasks if task.id in tasks)
    return {name: end for name, end in ended if end.status != "skipped" or name in behind}
