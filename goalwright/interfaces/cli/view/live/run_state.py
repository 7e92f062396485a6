"""The state of a run, folded from its events, for the live views."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallBroken,
    CallFinished,
    CallProgressed,
    CallRetried,
    CallStarted,
    Event,
    ModelLoaded,
    ModelLoading,
    PlanChanged,
    PlanMade,
    RunResumed,
    RunStarted,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
    ToolCalled,
    ToolOutput,
)
from goalwright_planner.plan.fan_out import heading
from goalwright_planner.plan.task_id import in_order, parent_of, root_of, round_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.model import Usage
    from goalwright_planner.plan.task import Task

_TAIL = 8_000  # characters; more than any terminal shows


@dataclass(slots=True)
class TaskRow:
    """A task and its progress."""

    task: Task
    state: str = "pending"
    started: float | None = None
    seconds: float = 0.0
    tokens: int = 0
    written: int = 0  # tokens of the running call

    @property
    def title(self) -> str:
        """The title of the task, or the item it works on."""
        if self.task.item is not None:
            return heading(self.task.item.value)
        return self.task.title if self.task.title != self.task.id else ""

    def elapsed(self, now: float) -> float | None:
        """Return the seconds it has run; None before it starts."""
        if self.started is None:
            return self.seconds or None
        return now - self.started if self.state == "running" else self.seconds


@dataclass(slots=True)
class RunState:
    """The tasks of a run, its activity, its cost, and the answer written so far."""

    clock: Callable[[], float] = time.monotonic
    rows: dict[str, TaskRow] = field(default_factory=dict)
    activity: str = "selecting skills"
    cost: float | None = 0.0
    is_estimated: bool = False
    max_cost: float | None = None
    streamed: str = ""
    is_markdown: bool = True  # text of a model; the output of a program is shown unchanged
    written: int = 0  # tokens of a call outside of tasks
    began: float = field(init=False)
    _before_loading: str = ""
    _writer: str | None = None  # the task whose text is streamed; None for the answer

    def __post_init__(self) -> None:
        self.began = self.clock()

    def note(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case RunStarted() | RunResumed():
                self.max_cost = event.settings.get("max_cost")
            case ModelLoading():
                self._before_loading, self.activity = self.activity, f"loading {event.what}"
            case ModelLoaded():
                self.activity = self._before_loading
            case CallStarted():
                self._call_started(event)
            case CallProgressed(task=str(task)) if task in self.rows:
                self.rows[task].written = event.written
            case CallProgressed(task=None):
                self.written = event.written
            case CallFinished(reply=reply):
                self._spend(event.task, reply.usage, reply.cost)
            case CallBroken():
                self._spend(event.task, event.usage, event.cost)
            case PlanMade():
                self.activity = "running"
                # Tasks that began while the plan was being written keep their rows.
                tasks = {task.id: self.rows.get(task.id) or TaskRow(task) for task in event.plan.tasks}
                tasks |= {name: row for name, row in self.rows.items() if root_of(name) in tasks}
                self.rows = {task_id: tasks[task_id] for task_id in in_order(tasks)}
            case PlanChanged():
                self.activity = "running"
                self._change(event)
            case TaskStarted(task=task) if task in self.rows:
                row = self.rows[task]
                row.state, row.started = "running", self.clock()
            case TaskFinished(task=task) if task in self.rows:
                row = self.rows[task]
                row.state, row.seconds = event.status, event.seconds
            case TaskReused(task=task) if task in self.rows:
                self.rows[task].state = "done"
            case ApprovalAsked(task=str(task)) if task in self.rows:
                self.rows[task].state = "waiting"
            case ApprovalGiven(task=str(task)) if task in self.rows and not event.withdrawn:
                self.rows[task].state = "running"
            case TextStreamed() | ToolOutput():
                before = self.streamed if event.task == self._writer else ""  # show one text at a time
                self._writer, self.streamed = event.task, (before + event.text)[-_TAIL:]
                self.is_markdown = isinstance(event, TextStreamed)
            case ToolCalled(task=task) | CallRetried(task=task) if task == self._writer:
                self.streamed = ""
            case _:
                pass

    def items_of(self, task_id: str) -> str:
        """Return a task's finished and total items, `3/40`, or the round of a repeated task, `round 2/5`.

        Empty if it has neither.
        """
        task = self.rows[task_id].task
        if (repeat := task.repeat) is not None and task.for_each is None:
            rounds = sum(round_of(name) is not None and parent_of(name) == task_id for name in self.rows)
            return f"round {rounds + 1}/{repeat.most}"
        parts = [row.state for name, row in self.rows.items() if parent_of(name) == task_id]
        return f"{sum(state not in ('pending', 'running') for state in parts)}/{len(parts)}" if parts else ""

    def _change(self, event: PlanChanged) -> None:
        for task_id in event.dropped:
            self.rows.pop(task_id, None)
        self.rows |= {task.id: TaskRow(task) for task in event.added}
        if any(parent_of(task.id) is not None for task in event.added):
            self.rows = {task_id: self.rows[task_id] for task_id in in_order(self.rows)}

    def count(self, *states: str) -> int:
        """Count the tasks in these states."""
        return sum(row.state in states for row in self.rows.values())

    def _call_started(self, event: CallStarted) -> None:
        self.written = 0
        self.streamed = ""  # a repeated call writes its answer from the beginning
        if event.task is not None:
            return  # shown in its row
        if event.role == "decomposer":
            self.activity = f"planning with {event.model}"
        elif event.role == "replanner":
            self.activity = f"changing the plan with {event.model}"
        elif event.role == "synthesis":
            self.activity = f"writing the answer with {event.model}"

    def _spend(self, task: str | None, usage: Usage, cost: float | None) -> None:
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        self.is_estimated = self.is_estimated or usage.estimated_calls > 0
        if task in self.rows:
            self.rows[task].tokens += usage.tokens
            self.rows[task].written = 0
