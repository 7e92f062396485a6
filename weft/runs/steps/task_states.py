"""How the tasks of a plan stand when it is to change, and what speaks for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_executor.capture.beginnings import beginnings
from weft_planner.decompose.replan import TaskState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft_executor.capture.capture import Capture
    from weft_executor.history.replans import TaskEnd
    from weft_planner.plan.plan import Plan

# Characters of a task's error or output that the request shows, of one and of all.
_EACH = 1_500
_IN_ALL = 20_000
_NO_RESULT = ("failed", "denied")


def states(plan: Plan, tasks: Mapping[str, TaskEnd], capture: Capture) -> tuple[TaskState, ...]:
    """How each task of a plan stands, with the beginning of its output or error; a task that only waits is pending."""
    ends = _ends(plan, {name: end for name, end in tasks.items() if end.status != "waiting"})
    texts = {name: (end.output if end.status == "done" else end.error) or "" for name, end in ends.items()}
    shown = beginnings(texts, _EACH, _IN_ALL, capture)
    return tuple(
        TaskState(task.id, ends[task.id].status if task.id in ends else "pending", shown.get(task.id, ""))
        for task in plan.tasks
    )


def losses(plan: Plan, tasks: Mapping[str, TaskEnd]) -> list[str]:
    """A reason to change the plan for each failed task that leaves others skipped, or the answer without its result."""
    import networkx as nx

    status = {name: end.status for name, end in _ends(plan, tasks).items()}
    failed = [task for task in plan.tasks if status.get(task.id) == "failed" and task.id not in plan.replaced]
    finals = {task.id for task in plan.finals} if failed else set()
    reasons = []
    for task in failed:
        behind = nx.descendants(plan.graph, task.id)
        skipped = [other.id for other in plan.tasks if other.id in behind and status.get(other.id) == "skipped"]
        if skipped:
            reasons.append(f"task {task.id!r} failed, and was needed for: {', '.join(skipped)}")
        elif task.id in finals:
            reasons.append(f"task {task.id!r} failed, and the answer lacks its result")
    return reasons


def objections(plan: Plan, wrong: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A reason to change the plan for each one that a worker gave."""
    return [
        f"the worker of task {task.id!r} says that the plan is wrong: {reason}"
        for task in plan.tasks
        for reason in wrong.get(task.id, ())
    ]


def _ends(plan: Plan, tasks: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """How the tasks of a plan ended; one that was skipped before the plan was changed has not if it may run now."""
    import networkx as nx

    status = {name: end.status for name, end in tasks.items()}
    without = [task.id for task in plan.tasks if status.get(task.id) in _NO_RESULT and task.id not in plan.replaced]
    behind = {name for task_id in without for name in nx.descendants(plan.graph, task_id)}
    ended = ((task.id, tasks[task.id]) for task in plan.tasks if task.id in tasks)
    return {name: end for name, end in ended if end.status != "skipped" or name in behind}
