"""Builds the spans of a run from its events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright.traces.span import Span, Try
from goalwright_executor.history.ledger import Ledger
from goalwright_planner.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallBroken,
    CallFailed,
    CallFinished,
    CallRetried,
    ConditionChecked,
    Event,
    PlanChanged,
    PlanMade,
    PlanRefused,
    RecipeUse,
    ResultChecked,
    RunFinished,
    RunResumed,
    RunStarted,
    SkillShortened,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
)
from goalwright_planner.plan.task_id import parent_of, round_of
from goalwright_skills.text.formatting import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_planner.plan.task import Task
    from goalwright_skills.selection.detector import Selection

# The keys of an object that can name it, and the length of the name.
_NAME_KEYS = ("name", "title", "label", "id", "path", "url")
_LONGEST = 60
# Steps that are not tasks, by role.
_STEPS = {"decomposer": "(plan)", "replanner": "(replan)"}


@dataclass(slots=True)
class Question:
    """A question to the user, and the answer, if any."""

    id: str
    task: str | None
    question: str
    answer: str | None = None


@dataclass(slots=True)
class Steps:
    """Builds the spans of a run from its events in order; `dropped` are spans of tasks that a plan change removed."""

    ledger: Ledger = field(default_factory=Ledger)
    spans: dict[str, Span] = field(default_factory=lambda: {"(plan)": Span("(plan)", "plan")})
    selections: tuple[Selection, ...] = ()
    faults: list[str] = field(default_factory=list)
    parent: str | None = None
    after: str | None = None
    recipe: RecipeUse | None = None
    started: str = ""
    resumes: list[float] = field(default_factory=list)
    waited: set[str] = field(default_factory=set)  # waiting for a person is not an attempt
    changes: list[tuple[float, PlanChanged]] = field(default_factory=list)
    dropped: list[Span] = field(default_factory=list)
    streamed: int = 0
    shortened: list[SkillShortened] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    _last_part: dict[str, str] = field(default_factory=dict)
    _active: set[str] = field(default_factory=set)  # steps without a task whose next call continues the same span

    def note(self, event: Event, at: float, timestamp: str) -> None:
        was_waiting = self.ledger.finished is not None and self.ledger.finished.status == "waiting"
        self.ledger.note(event)
        match event:
            case RunStarted():
                self.parent, self.started = event.parent, timestamp
                self.after = event.after.run_id if event.after is not None else None
                self.recipe = event.recipe
            case RunResumed():
                self._note_resume(at, was_waiting=was_waiting)
            case SkillsSelected(task=None):
                self.selections = event.selections
            case PlanRefused():
                self.faults += (f"{event.task}: {fault}" if event.task else fault for fault in event.faults)
                if event.task is None:
                    self._note_refusal("(plan)" if event.change is None else "(replan)")
            case PlanMade():
                self._note_tasks(event.plan.tasks)
                if (plan := self.spans.get("(plan)")) is not None and plan.status == "failed":
                    plan.status = "done"  # a later attempt succeeded
                if event.attempts == 0:
                    self.spans.pop("(plan)", None)
            case PlanChanged():
                self._note_change(event, at)
            case ApprovalAsked(kind="question") if event.id not in self.questions:
                self._note_question(event)
            case ApprovalGiven() if event.call in self.questions:
                self.questions[event.call].answer = event.text or event.note or event.decision
            case SkillShortened() if event not in self.shortened:  # a resumed task repeats the event
                self.shortened.append(event)
            case ConditionChecked(holds=False, round=None) if event.task in self.spans:
                self.spans[event.task].why = event.why
            case TaskStarted() | TaskReused() | TaskFinished() if event.task in self.spans:
                self._note_task(event, at)
            case CallBroken() | CallFinished() | CallFailed() | CallRetried():
                self._note_call(event, at)
            case RunFinished():
                waiting = self._waiting
                for span in self.spans.values():
                    span.close(at, "waiting" if span.id in waiting else "interrupted")
            case ResultChecked(task=task) if task in self.spans:
                verdict = {"attempt": event.attempt, "holds": event.holds, "why": event.why}
                if verdict not in self.spans[task].checks:  # a resumed task repeats its checks
                    self.spans[task].checks.append(verdict)
            case ToolCalled(task=str(task)) if task in self.spans:
                self.spans[task].tools = dict(Counter(self.spans[task].tools) + Counter([event.name]))
            case _:
                pass

    def _note_refusal(self, step: str) -> None:
        """Mark the last planning call as failed: its plan was refused."""
        span = self.spans.get(step)
        if span is not None and span.tries:
            span.status = "failed"
            span.tries[-1] = replace(span.tries[-1], status="failed")

    def _note_question(self, event: ApprovalAsked) -> None:
        self.questions[event.id] = Question(event.id, event.task, event.preview)
        if event.task is None and (plan := self.spans.get("(plan)")) is not None:
            plan.attempts = max(0, plan.attempts - 1)  # a call that only asked a question is not an attempt

    def _note_resume(self, at: float, *, was_waiting: bool) -> None:
        self.resumes.append(at)
        self._active.clear()
        stopped = [span for span in self.spans.values() if span.status == "running"]
        self.waited |= {span.id for span in stopped if was_waiting}
        for span in stopped:  # they start again later
            span.status = "pending"
            span.close(at, "interrupted")

    def _note_tasks(self, tasks: Iterable[Task]) -> None:
        reasons = {selection.name: f"{selection.score:.2f}: {selection.reason}" for selection in self.selections}
        for task in tasks:
            early = self.spans.pop(task.id, None)  # streamed before the plan was complete; the plan defines the order
            if early is not None and early.start is not None:
                self.spans[task.id] = early
                continue
            span = Span(task.id, task.action_type, task.name, task.title, depends_on=task.depends_on)
            self.spans[task.id] = replace(span, why=reasons.get(task.name or ""), item=_part_name(task))

    def _note_change(self, event: PlanChanged, at: float) -> None:
        if event.cause in ("replan", "person"):
            self.changes.append((round(at, 3), event))
            self._active.discard("(replan)")
        self.streamed += len(event.added) if event.cause == "stream" else 0
        removed = [span for task_id in event.dropped if (span := self.spans.pop(task_id, None)) is not None]
        for span in removed:
            span.close(at, "cancelled")
        self.dropped += (span for span in removed if span.tries)
        self._note_tasks(event.added)
        for old, new in event.rewired.items():
            if old in self.spans:
                self.spans[old].replaced_by = new
        for span in self.spans.values() if event.rewired else ():
            span.depends_on = tuple(dict.fromkeys(event.rewired.get(name, name) for name in span.depends_on))

    def _note_task(self, event: TaskStarted | TaskReused | TaskFinished, at: float) -> None:
        span = self.spans[event.task]
        match event:
            case TaskStarted():
                span.start, span.end, span.status = at, None, "running"
                span.tries.append(Try(at, None, "running"))
                span.inputs = event.inputs
                span.attempts += event.task not in self.waited
                self.waited.discard(event.task)
                span.waited_for = self._last_of(span.depends_on) or self._before_parent(event.task)
            case TaskReused():
                span.status, span.why = "reused", event.source
            case TaskFinished():
                was_reused = span.status == "reused" and event.status == "done"
                span.status, span.error = "reused" if was_reused else event.status, event.error
                span.end = at if span.start is not None else None
                span.close(at, event.status)
                span.waited_for = self._last_part.get(event.task, span.waited_for)
                if (parent := parent_of(event.task)) is not None:
                    self._last_part[parent] = event.task

    def _last_of(self, names: Iterable[str]) -> str | None:
        """Return the step that ended last, if any."""
        ends = {name: self.spans[name].end or 0.0 for name in names if name in self.spans}
        return max(ends, key=lambda name: ends[name]) if ends else None

    def _before_parent(self, task: str) -> str | None:
        """Return what the parent of an expanded task waited for."""
        parent = parent_of(task)
        return self.spans[parent].waited_for if parent in self.spans else None

    def _note_call(self, event: CallBroken | CallFinished | CallFailed | CallRetried, at: float) -> None:
        step = event.task or _STEPS.get(event.role, f"({event.role})")
        span = self.spans.setdefault(step, Span(step, event.role))
        if isinstance(event, CallBroken):
            span.spend(event.usage, event.cost)
            return
        if isinstance(event, CallRetried):
            span.attempts += 1
            span.retries.append(round(at, 3))
            return
        if event.task is None:
            start = max(0.0, at - event.seconds)
            span.start = span.start if step in self._active and span.start is not None else start
            self._active.add(step)
            span.end, span.status = at, "done" if isinstance(event, CallFinished) else "failed"
            span.tries.append(Try(start, at, span.status))
            span.attempts += 1
        if isinstance(event, CallFinished):
            span.spend(event.reply.usage, event.reply.cost)

    @property
    def _waiting(self) -> set[str | None]:
        """The tasks that wait for the user."""
        return {request.task for request in self.ledger.approvals.waiting}

    def end(self, at: float, *, alive: bool) -> None:
        """Set the final status of each step; in a run that is `alive`, open steps are still running."""
        waiting = self._waiting
        for span in self.spans.values():
            if span.id in waiting and (span.status == "running" or (span.status == "pending" and not alive)):
                span.status = "waiting"
            if span.status == "running" and not alive:
                span.status = "interrupted"
            if not alive:
                span.close(at, span.status)


def _part_name(task: Task) -> str | None:
    """Return the name of an item or a round of a task; None for other tasks."""
    if (number := round_of(task.id)) is not None:
        return f"round {number}"
    return None if task.item is None else item_name(task.item.value)


def item_name(value: Any) -> str:
    """Name a list item by its text, by a name in it, or by its JSON."""
    names = [value.get(key) for key in _NAME_KEYS] if isinstance(value, Mapping) else [value]
    texts = [text for text in names if isinstance(text, str) and text.strip()]
    text = texts[0] if texts else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return clip(one_line(text), _LONGEST)
