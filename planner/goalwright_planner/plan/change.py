"""Changes of a plan while it runs, and their faults: a task that has begun cannot change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.references import renamed
from goalwright_planner.plan.task_id import MAX_LENGTH, depth_of, parent_of, root_of, sub_task_id
from goalwright_planner.plan.task_problems import row_problems
from goalwright_planner.plan.validate import graph_problems, synthesis_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.task import Task


_MAY_GROW = "the plan may grow by"


@dataclass(frozen=True, slots=True)
class Change:
    """Added, dropped and replaced tasks, and the reasons for skills that no task uses any more."""

    added: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()
    rewired: Mapping[str, str] = field(default_factory=dict)
    synthesis: str | None = None
    unused: Mapping[str, str] = field(default_factory=dict)

    def applied(self, plan: Plan) -> Plan:
        """Return the plan after the change."""
        return plan.changed(self.added, self.dropped, self.rewired, self.synthesis, self.unused)


def problems(
    change: Change, plan: Plan, begun: Mapping[str, str], known: Known, *, edited: Collection[str] = ()
) -> list[str]:
    """Return all faults of a change, each with a remedy.

    `begun` has the status of each task that has started. `edited` tasks are dropped and added again under the same id.
    """
    after = change.applied(plan)
    rows = _rows(change, after)
    return [
        *_added_problems(change, plan, known, edited),
        *_dropped_problems(change, plan, begun),
        *_rewired_problems(change, plan, after, begun),
        *_dependency_problems(change, after, begun),
        *graph_problems(rows, known),
        *synthesis_problems(after.synthesis, rows, known),
        *growth_problems(change.added, plan, known),
    ]


def growth_problems(added: Sequence[Task], plan: Plan, known: Known) -> Iterator[str]:
    """Yield the limits on growth that the added tasks would exceed, each with its setting."""
    if plan.grown + len(added) > known.max_grown:
        before = f"it has grown by {plan.grown} already, and " if plan.grown else ""
        yield (
            f"{_MAY_GROW} {known.max_grown} tasks in all; {before}this would add {len(added)}: "
            "raise max_grown, or add fewer"
        )
    deepest = max((depth_of(task.id) for task in added), default=0)
    if deepest > known.max_depth:
        yield f"sub-goals may be nested {known.max_depth} deep, not {deepest}: raise max_depth, or plan it in one"
    for task in added:
        if len(task.id) > MAX_LENGTH:
            yield f"the task id {task.id[:60]!r}… has {len(task.id)} characters; {MAX_LENGTH} are allowed at most"


def is_growth_fault(fault: str) -> bool:
    """Whether a recorded fault is the limit on the growth of the plan, which depends on which tasks grew first."""
    return fault.startswith(_MAY_GROW)


def parts_in(tasks: Iterable[Task], of: str | None = None) -> tuple[Task, ...]:
    """Return the grown tasks, or only those of one task."""
    grown = (task for task in tasks if parent_of(task.id) is not None)
    return tuple(task for task in grown if of is None or root_of(task.id) == of)


def with_parts(plan: Plan, early: Iterable[Task]) -> Plan:
    """Return an accepted plan with the items and rounds that its tasks grew into while it was being written."""
    parts = tuple(part for part in parts_in(early) if root_of(part.id) in plan)
    return plan.with_tasks((*plan.tasks, *parts), grown=len(parts)) if parts else plan


def joining(task: Task, plan: Plan, results: Collection[str]) -> Plan:
    """Return the plan of a sub-goal as part of the plan of the run.

    Its tasks get ids of their own, and its first tasks wait for the dependencies of the goal that have `results`. If
    the goal is repeated, its first tasks see the result of the previous round.
    """
    names = {part.id: sub_task_id(task.id, part.id) for part in plan.tasks}
    before = tuple(name for name in task.depends_on if name in results)

    def joined(part: Task) -> Task:
        renamed = part.rewired(names).renamed(names[part.id])
        if renamed.depends_on:
            return renamed
        return replace(renamed, depends_on=before, previous=task.previous if part.action_type != "tool" else None)

    return Plan(tuple(map(joined, plan.tasks)), renamed(plan.synthesis, names), joined=plan.joined)


def _rows(change: Change, after: Plan) -> list[dict[str, Any]]:
    """Return the tasks of the changed plan, without ids and dependencies whose faults are found elsewhere."""
    kept = {task.id: task for task in after.tasks[: len(after.tasks) - len(change.added)]}
    tasks = [*kept.values(), *(task for task in change.added if task.id not in kept)]
    lost = set(change.dropped) - {task.id for task in tasks}
    return [
        task.to_dict() | {"depends_on": [before for before in task.depends_on if before not in lost]} for task in tasks
    ]


def _added_problems(change: Change, plan: Plan, known: Known, edited: Collection[str]) -> Iterator[str]:
    for number, task in enumerate(change.added, 1):
        if task.id not in edited and (task.id in plan or task.id in plan.dropped):
            yield f"the id {task.id!r} was used before; give the added task another"
        if parent_of(task.id) is None:
            yield from row_problems(number, task.to_dict(), known)


def _dropped_problems(change: Change, plan: Plan, begun: Mapping[str, str]) -> Iterator[str]:
    for task_id in change.dropped:
        if task_id not in plan:
            yield f"there is no task {task_id!r} to drop"
        elif task_id in begun:
            yield f"task {task_id!r} has begun and cannot be dropped: it is {begun[task_id]}"


def _rewired_problems(change: Change, plan: Plan, after: Plan, begun: Mapping[str, str]) -> Iterator[str]:
    for old, new in change.rewired.items():
        if old not in plan and old not in begun:  # a failed item is not a task of the plan itself
            yield f"there is no task {old!r} to rewire"
        if new not in after:
            yield f"{old!r} cannot be rewired to {new!r}, which is not in the plan; add it"
        elif begun.get(new) == "failed":
            yield f"{old!r} cannot be rewired to {new!r}, which failed; add a task that replaces both"
    for task in plan.tasks:
        if task.id in begun and task.id not in change.dropped and task.rewired(change.rewired) is not task:
            yield f"task {task.id!r} has begun and cannot be rewired: it is {begun[task.id]}"


def _dependency_problems(change: Change, after: Plan, begun: Mapping[str, str]) -> Iterator[str]:
    """Yield dependencies on tasks that are dropped or failed; the graph's problems have those on missing tasks."""
    added = {task.id for task in change.added}
    for task in after.tasks:
        for before in task.depends_on:
            if before in change.dropped and before not in added:
                yield f"task {task.id!r} depends on {before!r}, which is dropped; drop it too, or rewire {before!r}"
            elif begun.get(before) == "failed" and task in change.added:
                yield f"task {task.id!r} depends on {before!r}, which failed; depend on what replaces it"
