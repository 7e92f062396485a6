"""Reruns a part of a run: upstream results are reused, the other tasks are executed in a new run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan.task_id import in_round, number_of, parent_of, with_parents
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import known_are

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from goalwright_executor.history.run_history import RunHistory
    from goalwright_planner.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """The tasks that are reused, with their outputs and sources, and the tasks that are executed, in plan order."""

    plan: Plan
    reused: Mapping[str, tuple[str, str]]
    executed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the reused and the executed tasks as JSON."""
        return {"reused": list(self.reused), "executed": list(self.executed)}

    @property
    def given(self) -> dict[str, tuple[str, str]]:
        """Return the outputs for the new run; a task whose items are reused is joined from them again."""
        items = {parent_of(task) for task in self.reused if number_of(task) is not None}
        return {task: output for task, output in self.reused.items() if task not in items}


def plan_rerun(history: RunHistory, begin: Collection[str], inputs: Mapping[str, str]) -> RerunPlan:
    """Divide a recorded plan: the tasks in `begin`, their dependents, and tasks without a result are executed.

    Items of a dependent task are reused if their text is unchanged and they depend on no executed task. Everything that
    has grown from a task in `begin` is executed.
    """
    import networkx as nx

    if history.plan is None:
        raise InputError("the run has no plan to rerun a part of", hint="run its goal again with `goalwright run`")
    plan = history.plan.without_replaced()
    _check(plan, [*begin, *inputs])
    stale = {*begin, *(after for task in inputs for after in plan.graph.successors(task))}
    counted = {task.id for task in plan.reported}
    stale |= {name for name in counted if parent_of(name) is not None and not _needs_nothing(history, name)}
    stale |= {name for name in counted if not {*begin}.isdisjoint(with_parents(name))}
    for task in list(stale):
        stale |= nx.descendants(plan.graph, task)
    run_id = history.started.run_id if history.started else ""
    reused = {
        task: (finished.output, f"run {run_id}")
        for task, finished in history.tasks.items()
        if finished.status == "done" and finished.output is not None and task not in stale
    }
    reused |= {task: (output, f"run {run_id}") for task, output in history.finished.reused.items() if task not in stale}
    reused |= {task: (text, "what you gave") for task, text in inputs.items()}
    # A repeated task is run again as a whole: its rounds are neither reused nor listed.
    order = [task.id for task in plan.tasks if task.id in counted and parent_of(task.id) not in inputs]
    executed = tuple(task for task in order if task not in reused)
    return RerunPlan(plan, {task: reused[task] for task in order if task in reused}, executed)


def _needs_nothing(history: RunHistory, task_id: str) -> bool:
    """Return whether a grown task is done or was not needed."""
    finished = history.tasks.get(task_id)
    return task_id in history.finished.reused or (finished is not None and finished.status in ("done", "unneeded"))


def _check(plan: Plan, names: Collection[str]) -> None:
    planned = [task.id for task in plan.reported]
    for name in names:
        if in_round(name) and name in plan:
            whole = next(task for task in with_parents(name) if not in_round(task))
            raise InputError(
                f"{name!r} is a part of a round of {whole!r}",
                hint=f"begin with {whole}, which runs all its rounds again",
            )
        if name not in planned:
            raise InputError(
                f"there is no task {name!r} in the run's plan; {known_are(name, planned)}",
                hint="`goalwright trace show` lists a run's tasks",
            )
