"""The changes of a run's plan by a model or a person, and the state of the run before each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallStarted,
    PlanChanged,
    PlanMade,
    PromptMade,
    ReplanAsked,
    RunFinished,
    RunResumed,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
)
from goalwright_planner.events.run import NOT_CHANGED, PLAN_NOT_CHANGED
from goalwright_planner.plan.task_id import number_of, parent_of, root_of
from goalwright_skills.builtin.plan_is_wrong import NAME, reason_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.events import Event


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """The status, output and error of a task.

    The status is `interrupted` if the task has started and not ended, `waiting` if it only asked a person whether to
    start, and `denied` if it was skipped after that.
    """

    status: str
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ReplanRecord:
    """A recorded change or attempted change, and the state of the run before it.

    `tasks` are the planned tasks that had started, `items` the failed items. `wrong` has by task the reasons for which
    workers called the plan wrong, `asked` is a person's request, and `variables` are those of the prompt.
    """

    event: PlanChanged
    tasks: Mapping[str, TaskEnd] = field(default_factory=dict)
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    grown: int = 0
    items: Mapping[str, TaskEnd] = field(default_factory=dict)


@dataclass(slots=True)
class Replans:
    """Everything that decides about changes of the plan, from a run's events, recorded or live.

    `wrong` and `asked` are pending reasons for a change. `started_at` has the number of attempts at the first start of
    each task. `refused` is the reason why a person's last request was not met, if the run ended with it.
    """

    changes: list[ReplanRecord] = field(default_factory=list)
    wrong: dict[str, tuple[str, ...]] = field(default_factory=dict)
    asked: str | None = None
    variables: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    tasks: dict[str, TaskEnd] = field(default_factory=dict)
    items: dict[str, TaskEnd] = field(default_factory=dict)
    started_at: dict[str, int] = field(default_factory=dict)
    refused: str | None = None
    _grown: int = 0
    _planned: bool = False
    _early_parts: set[str] = field(default_factory=set)  # parts that were added before there was a plan
    _called: set[str] = field(default_factory=set)  # tasks that called a model or a tool

    @property
    def attempts(self) -> int:
        """The number of answers to requests to change the plan, good or bad."""
        return sum(change.event.cause == "replan" for change in self.changes)

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:  # the most frequent events first
            case TaskStarted():
                self.started_at.setdefault(event.task, self.attempts)
                self._note_task(event.task, TaskEnd("interrupted"))
            case TaskFinished():
                self._note_task(event.task, TaskEnd(self._status(event), event.output, event.error))
            case CallStarted(task=str(task)) if event.role != "condition":
                self._called.add(task)
            case PlanMade():
                self._grown = sum(root_of(name) in event.plan for name in self._early_parts)
                self._early_parts.clear()
                self._planned = True
            case RunResumed():
                self.refused = None
            case RunFinished() if event.code != PLAN_NOT_CHANGED:  # the run continued without the change
                self.refused = None
            case RunFinished() if self.asked is not None:  # it ended before a model was called
                self.refused, self.asked = (event.error or "").removeprefix(NOT_CHANGED), None
            case ApprovalAsked(kind="task", task=str(task)) if task in self.tasks and task not in self._called:
                self.tasks[task] = TaskEnd("waiting")
            case ApprovalGiven(task=str(task)) if self._is_waiting(task) and not event.withdrawn:
                self.tasks[task] = TaskEnd("interrupted")
            case TaskReused():
                self._note_task(event.task, TaskEnd("done", event.output))
            case ToolCalled(task=str(task)):
                self._called.add(task)
                if event.name == NAME:
                    self._note_reason(root_of(task), reason_in(event.envelope))
            case ReplanAsked():
                self.asked = event.request
            case PromptMade(role="replanner"):
                self.variables.setdefault(self.attempts, event.variables)
            case PlanChanged():
                self._note_change(event)
            case _:
                pass

    def _status(self, event: TaskFinished) -> str:
        before = self.tasks.get(event.task)
        has_started = before is not None and before.status in ("interrupted", "waiting")
        return {"cancelled": "interrupted", "skipped": "denied" if has_started else "skipped"}.get(
            event.status, event.status
        )

    def _is_waiting(self, task: str) -> bool:
        return task in self.tasks and self.tasks[task].status == "waiting"

    def _note_task(self, task: str, ended: TaskEnd) -> None:
        if parent_of(task) is None:
            self.tasks[task] = ended
        elif ended.status == "failed" and number_of(task) is not None:
            self.items[task] = ended
        else:
            self.items.pop(task, None)

    def _note_reason(self, task: str, reason: str | None) -> None:
        if reason is not None and reason not in self.wrong.get(task, ()):
            self.wrong[task] = (*self.wrong.get(task, ()), reason)

    def _note_change(self, event: PlanChanged) -> None:
        if event.cause in ("replan", "person"):
            variables = self.variables.get(self.attempts, {})
            self.changes.append(
                ReplanRecord(
                    event, dict(self.tasks), dict(self.wrong), self.asked, variables, self._grown, dict(self.items)
                )
            )
        if event.cause == "replan":
            changed = event.added or event.dropped or event.rewired or event.synthesis is not None
            self.refused = event.note if self.asked is not None and not changed else None
            self.wrong.clear()
            self.asked = None
        self._grown += len(event.added)
        if not self._planned:
            self._early_parts.difference_update(event.dropped)
            self._early_parts.update(task.id for task in event.added if parent_of(task.id) is not None)
        for task_id in event.dropped:
            self.tasks.pop(task_id, None)
            self.items.pop(task_id, None)
            if event.cause == "stream":  # a new task may have the same id
                self.wrong.pop(task_id, None)
                self.started_at.pop(task_id, None)
