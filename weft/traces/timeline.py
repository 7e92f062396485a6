"""A recorded run in time: its steps, what each waited for, the critical path, tokens and cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from weft.traces.clock import Clock
from weft.traces.critical_path import critical_path
from weft.traces.span import Span
from weft_executor.history.ledger import Ledger
from weft_planner.events import (
    CallBroken,
    CallFailed,
    CallFinished,
    CallRetried,
    ConditionChecked,
    Event,
    PlanChanged,
    PlanMade,
    PlanRefused,
    ResultChecked,
    RunResumed,
    RunStarted,
    SkillShortened,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
    decode,
)
from weft_planner.plan.task_id import in_order, parent_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft_executor.history.result import Result
    from weft_executor.stores.row import Row
    from weft_planner.plan.plan import Task
    from weft_skills.selection.detector import Selection

# The events a timeline needs; the prompts, which are most of a record, are not among them.
TYPES = (
    "run_started", "run_resumed", "skills_selected", "plan_refused", "plan_made", "plan_changed", "task_started",
    "condition_checked", "task_reused", "task_finished", "call_retried", "call_broken", "call_failed", "call_finished",
    "tool_called", "result_checked", "approval_asked", "approval_given", "skill_shortened", "warned", "run_finished",
)  # fmt: skip
# The steps that are not tasks, by the role of their model.
_STEPS = {"decomposer": "(plan)", "replanner": "(replan)"}


@dataclass(slots=True)
class Timeline:
    """A run's steps: planning, each task, synthesis. `seconds` is the time worked, without pauses between resumes."""

    result: Result
    alive: bool
    seconds: float
    started: str
    parent: str | None
    after: str | None
    selections: tuple[Selection, ...]
    spans: dict[str, Span]
    faults: list[str]
    resumes: list[float]
    critical: list[str]
    changes: list[PlanChanged]
    shortened: list[SkillShortened]

    @property
    def resumed(self) -> int:
        """How often the run was resumed."""
        return len(self.resumes)

    @property
    def status(self) -> str:
        """The run's status; `running` if a process is running it now."""
        return "running" if self.alive else self.result.status

    def to_dict(self, *, outputs: bool = True) -> dict[str, Any]:
        """The timeline as `trace show --json` prints it; without `outputs`, those of tasks are left out."""
        document = self.result.to_dict()
        if not outputs:
            document["tasks"] = [{key: task[key] for key in task if key != "output"} for task in document["tasks"]]
        return document | {
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "started": self.started,
            "parent": self.parent,
            "after": self.after,
            "resumed": self.resumed,
            "resumes": self.resumes,
            "selected": [asdict(selection) for selection in self.selections],
            "plan_faults": self.faults,
            "plan_changes": [_change(event) for event in self.changes],
            "skills_shortened": [_shortened(event) for event in self.shortened],
            "spans": [
                {name: getattr(span, name) for name in span.__slots__} | {"seconds": round(span.seconds, 3)}
                for span in self.spans.values()  # their lists are not copied, which took most of the time
            ],
            "critical_path": self.critical,
        }


@dataclass(slots=True)
class _Reader:
    """Builds the spans from a run's events, in order."""

    ledger: Ledger = field(default_factory=Ledger)
    spans: dict[str, Span] = field(default_factory=lambda: {"(plan)": Span("(plan)", "plan")})
    selections: tuple[Selection, ...] = ()
    faults: list[str] = field(default_factory=list)
    parent: str | None = None
    after: str | None = None
    started: str = ""
    resumes: list[float] = field(default_factory=list)
    waited: set[str] = field(default_factory=set)  # waiting for a person is not an attempt
    changes: list[PlanChanged] = field(default_factory=list)
    shortened: list[SkillShortened] = field(default_factory=list)
    _last_part: dict[str, str] = field(default_factory=dict)

    def note(self, event: Event, at: float, timestamp: str) -> None:
        was_waiting = self.ledger.finished is not None and self.ledger.finished.status == "waiting"
        self.ledger.note(event)
        match event:
            case RunStarted():
                self.parent, self.started = event.parent, timestamp
                self.after = event.after.run_id if event.after is not None else None
            case RunResumed():
                self._note_resume(at, was_waiting=was_waiting)
            case SkillsSelected(task=None):
                self.selections = event.selections
            case PlanRefused():
                self.faults += (f"{event.task}: {fault}" if event.task else fault for fault in event.faults)
            case PlanMade():
                self._note_tasks(event.plan.tasks)
                if event.attempts == 0:
                    self.spans.pop("(plan)", None)
            case PlanChanged():
                self._note_change(event)
            case SkillShortened() if event not in self.shortened:  # a resumed task is given it again
                self.shortened.append(event)
            case ConditionChecked(holds=False) if event.task in self.spans:
                self.spans[event.task].why = event.why
            case TaskStarted() | TaskReused() | TaskFinished() if event.task in self.spans:
                self._note_task(event, at)
            case CallBroken() | CallFinished() | CallFailed() | CallRetried():
                self._note_call(event, at)
            case ResultChecked(task=task) if task in self.spans:
                verdict = {"attempt": event.attempt, "holds": event.holds, "why": event.why}
                if verdict not in self.spans[task].checks:  # a resumed task takes the same steps again
                    self.spans[task].checks.append(verdict)
            case ToolCalled(task=str(task)) if task in self.spans:
                self.spans[task].tools = dict(Counter(self.spans[task].tools) + Counter([event.name]))
            case _:
                pass

    def _note_resume(self, at: float, *, was_waiting: bool) -> None:
        self.resumes.append(round(at, 3))
        stopped = [span for span in self.spans.values() if span.status == "running"]
        self.waited |= {span.id for span in stopped if was_waiting}
        for span in stopped:  # each starts again in its turn
            span.status = "pending"

    def _note_tasks(self, tasks: Iterable[Task]) -> None:
        reasons = {selection.name: f"{selection.score:.2f}: {selection.reason}" for selection in self.selections}
        for task in tasks:
            early = self.spans.pop(task.id, None)  # it was written early; the plan says where it stands
            if early is not None and early.start is not None:
                self.spans[task.id] = early
                continue
            span = Span(task.id, task.action_type, task.name, task.title, depends_on=task.depends_on)
            self.spans[task.id] = replace(span, why=reasons.get(task.name or ""))

    def _note_change(self, event: PlanChanged) -> None:
        if event.cause in ("replan", "person"):
            self.changes.append(event)
        for task_id in event.dropped:
            self.spans.pop(task_id, None)
        self._note_tasks(event.added)
        for span in self.spans.values() if event.rewired else ():
            span.depends_on = tuple(dict.fromkeys(event.rewired.get(name, name) for name in span.depends_on))

    def _note_task(self, event: TaskStarted | TaskReused | TaskFinished, at: float) -> None:
        span = self.spans[event.task]
        match event:
            case TaskStarted():
                span.start, span.end, span.status = at, None, "running"
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
                span.waited_for = self._last_part.get(event.task, span.waited_for)
                if (parent := parent_of(event.task)) is not None:
                    self._last_part[parent] = event.task

    def _last_of(self, names: Iterable[str]) -> str | None:
        """The step that ended last; None if there is none."""
        ends = {name: self.spans[name].end or 0.0 for name in names if name in self.spans}
        return max(ends, key=lambda name: ends[name]) if ends else None

    def _before_parent(self, task: str) -> str | None:
        """What the task that a grown one is a part of waited for."""
        parent = parent_of(task)
        return self.spans[parent].waited_for if parent in self.spans else None

    def _note_call(self, event: CallBroken | CallFinished | CallFailed | CallRetried, at: float) -> None:
        step = event.task or _STEPS.get(event.role, f"({event.role})")
        span = self.spans.setdefault(step, Span(step, event.role))
        if isinstance(event, CallBroken):
            span.spend(event.usage, event.cost or 0.0)
            return
        if isinstance(event, CallRetried):
            span.attempts += 1
            span.retries.append(round(at, 3))
            return
        if event.task is None:
            span.start = at - event.seconds if span.start is None else span.start
            span.end, span.status = at, "done" if isinstance(event, CallFinished) else "failed"
            span.attempts += 1
        if isinstance(event, CallFinished):
            span.spend(event.reply.usage, event.reply.cost)


def timeline(rows: Iterable[Row], *, alive: bool = False) -> Timeline:
    """Build the timeline of a run from its rows; `alive` if a process is running it now."""
    reader, clock = _Reader(), Clock()
    for row in rows:
        at = clock.advance(datetime.fromisoformat(row.at), resumed=row.type == "run_resumed")
        event = decode(row.type, row.body)
        if event is not None:
            reader.note(event, at, row.at)
    waiting = {request.task for request in reader.ledger.approvals.waiting}
    for span in reader.spans.values():
        if span.id in waiting and (span.status == "running" or (span.status == "pending" and not alive)):
            span.status = "waiting"
        if span.status == "running" and not alive:
            span.status = "interrupted"
    return Timeline(
        result=reader.ledger.result(),
        alive=alive,
        seconds=clock.advance(datetime.now(UTC)) if alive else clock.seconds,
        started=reader.started,
        parent=reader.parent,
        after=reader.after,
        selections=reader.selections,
        spans={step: reader.spans[step] for step in in_order(reader.spans)},
        faults=reader.faults,
        resumes=reader.resumes,
        critical=critical_path(reader.spans),
        changes=reader.changes,
        shortened=reader.shortened,
    )


def _change(event: PlanChanged) -> dict[str, Any]:
    """A change of the plan as `trace show --json` prints it, without what the added tasks are told."""
    return {
        "cause": event.cause,
        "added": [task.id for task in event.added],
        "dropped": list(event.dropped),
        "rewired": dict(event.rewired),
        "note": event.note,
    }


def _shortened(event: SkillShortened) -> dict[str, Any]:
    """What is left out of a skill for a small model, as `trace show --json` prints it."""
    return {
        "task": event.task,
        "name": event.name,
        "left_out": list(event.left_out),
        "characters": event.characters,
    }
