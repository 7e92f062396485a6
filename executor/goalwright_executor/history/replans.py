"""How a recorded run's plan was changed by a model or a person, and how the run stood before each change."""

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
    """How a task stood: its status, output and error.

    It is `interrupted` if it had begun and not ended, `waiting` if it had only asked a person whether to begin, and
    `denied` if it was skipped after that.
    """

    status: str
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ReplanRecord:
    """A change on record, or an attempt at one, and how the run stood before it.

    `tasks` has the planned tasks that had ended or begun. `wrong` are the reasons for which workers called the plan
    wrong, by task, `asked` is what a person asked for. `told` are the variables of the prompt. `items` has those that
    failed.
    """

    event: PlanChanged
    tasks: Mapping[str, TaskEnd] = field(default_factory=dict)
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked: str | None = None
    told: Mapping[str, Any] = field(default_factory=dict)
    grown: int = 0
    items: Mapping[str, TaskEnd] = field(default_factory=dict)


@dataclass(slots=True)
class Replans:
    """Everything that decides about changes of the plan, from a run's events in order, on record and as they come.

    `wrong` and `asked` wait for a change. `started_at` has how many attempts there had been when a task first started.
    `refused` is why the last change that a person asked for was not made, if the run ended with that.
    """

    changes: list[ReplanRecord] = field(default_factory=list)
    wrong: dict[str, tuple[str, ...]] = field(default_factory=dict)
    asked: str | None = None
    told: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    tasks: dict[str, TaskEnd] = field(default_factory=dict)
    items: dict[str, TaskEnd] = field(default_factory=dict)
    started_at: dict[str, int] = field(default_factory=dict)
    refused: str | None = None
    _grown: int = 0
    _planned: bool = False
    _early_parts: set[str] = field(default_factory=set)  # what grew before there was a plan
    _called: set[str] = field(default_factory=set)  # tasks whose models were asked

    @property
    def attempts(self) -> int:
        """How often a model was asked to change the plan and answered, well or not."""
        return sum(change.event.cause == "replan" for change in self.changes)

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:  # the most frequent first: every event of a run passes here
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
            case RunFinished() if event.code != PLAN_NOT_CHANGED:  # the run went on without it
                self.refused = None
            case RunFinished() if self.asked is not None:  # it ended before a model was asked
                self.refused, self.asked = (event.error or "").removeprefix(NOT_CHANGED), None
            case ApprovalAsked(kind="task", task=str(task)) if task in self.tasks and task not in self._called:
                self.tasks[task] = TaskEnd("waiting")
            case ApprovalGiven(task=str(task)) if self._waits(task) and not event.withdrawn:
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
                self.told.setdefault(self.attempts, event.variables)
            case PlanChanged():
                self._note_change(event)
            case _:
                pass

    def _status(self, event: TaskFinished) -> str:
        before = self.tasks.get(event.task)
        begun = before is not None and before.status in ("interrupted", "waiting")
        return {"cancelled": "interrupted", "skipped": "denied" if begun else "skipped"}.get(event.status, event.status)

    def _waits(self, task: str) -> bool:
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
            told = self.told.get(self.attempts, {})
            before = ReplanRecord(
                event, dict(self.tasks), dict(self.wrong), self.asked, told, self._grown, dict(self.items)
            )
            self.changes.append(before)
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
            if event.cause == "stream":  # it will be another task, if there is one
                self.wrong.pop(task_id, None)
                self.started_at.pop(task_id, None)
