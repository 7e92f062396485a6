"""A run's state, computed from its events: during the run, at its end, and when it is read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_executor.history.result import Result, TaskReport
from goalwright_executor.results.kept_files import KeptFiles
from goalwright_executor.stores.row import COST_PLACES
from goalwright_planner.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallBroken,
    CallFinished,
    CallRetried,
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunResumed,
    RunStarted,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
    ToolStarted,
    Warned,
)
from goalwright_planner.events.run import PLAN_NOT_CHANGED
from goalwright_planner.model import Usage
from goalwright_planner.plan.change import parts_in, with_parts
from goalwright_planner.plan.task_id import in_round, parent_of, root_of, round_of, with_parents
from goalwright_skills.text.formatting import clip, counted

if TYPE_CHECKING:
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


_MAX_WARNINGS = 100
_MAX_WARNING_LENGTH = 2_000


@dataclass(slots=True)
class RunWarnings:
    """The warnings of a run in order, each once; those beyond the first hundred are only counted."""

    _texts: dict[str, None] = field(default_factory=dict)
    _omitted: int = 0

    def __contains__(self, text: str) -> bool:
        return clip(text, _MAX_WARNING_LENGTH) in self._texts

    def note(self, text: str) -> None:
        """Add a warning, unless it is a duplicate."""
        text = clip(text, _MAX_WARNING_LENGTH)
        if text in self._texts:
            return
        if len(self._texts) < _MAX_WARNINGS:
            self._texts[text] = None
        else:
            self._omitted += 1

    def texts(self) -> tuple[str, ...]:
        """The first warnings, and the number of the others."""
        others = (f"and {counted(self._omitted, 'more warning')}, which the trace has",) if self._omitted else ()
        return (*self._texts, *others)

    def copy(self) -> RunWarnings:
        """Return an independent copy."""
        return RunWarnings(dict(self._texts), self._omitted)


@dataclass(slots=True)
class Ledger:
    """Takes a run's events in order; `result` returns the state at any time.

    `early` are tasks that started before there was a plan.
    """

    run_id: str = ""
    goal: str = ""
    model: str | None = None
    conversation: str | None = None
    recipe: str | None = None
    skills: tuple[str, ...] = ()
    plan: Plan | None = None
    early: dict[str, Task] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    finished: RunFinished | None = None
    approvals: ApprovalRecord = field(default_factory=ApprovalRecord)
    files: KeptFiles = field(default_factory=KeptFiles)
    warnings: RunWarnings = field(default_factory=RunWarnings)
    _tasks: dict[str, TaskReport] = field(default_factory=dict)
    _attempts: Counter[str] = field(default_factory=Counter)
    _seconds: float = 0.0
    _reopened: dict[str, TaskReport] = field(default_factory=dict)  # tasks without a result before the last resume
    _started: set[str] = field(default_factory=set)  # tasks that started since the last resume
    _loaded: dict[str, dict[str, None]] = field(default_factory=dict)  # the skills that each task's model loaded

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:
            case RunStarted():
                self.run_id, self.goal, self.model = event.run_id, event.goal, event.settings.get("model")
                self.conversation = event.conversation.id if event.conversation is not None else None
                self.recipe = event.recipe.name if event.recipe is not None and event.recipe.used else None
            case SkillsSelected(task=None):
                self.skills = tuple(selection.name for selection in event.selections)
            case PlanMade():
                self.approvals.note(event)
                self._accept(event.plan)
            case PlanChanged():
                self.approvals.note(event)
                self._change(event)
            case RunResumed():
                self.model = event.settings.get("model")
                self._seconds += event.lost
                self._reopen()
            case TaskStarted(task=task):
                self._attempts[task] += 1
                self._started.add(task)
            case CallRetried(task=str(task)):
                self._attempts[task] += 1
            case CallBroken():
                self._spend(event.usage, event.cost)
            case CallFinished(reply=reply):
                self._spend(reply.usage, reply.cost)
            case TaskFinished() if event.task in self._tasks:
                self._reopened.pop(event.task, None)
                self._close(event)
            case TaskReused() if event.task in self._tasks:
                self._tasks[event.task] = replace(self._tasks[event.task], status="done", output=event.output)
                self.files.add(event.task, event.artifacts, event.images)
            case ToolCalled():
                self.approvals.note(event)
                self.files.note(event.task, event.envelope)
                self._note_skill(event)
            case Warned():
                self.warnings.note(event.message)
            case ApprovalAsked() | ApprovalGiven() | ToolStarted():
                self.approvals.note(event)
            case RunFinished():
                self.finished = event
                self._seconds += event.seconds
                if event.code == PLAN_NOT_CHANGED:  # no task was tried again
                    self._tasks |= {name: task for name, task in self._reopened.items() if name in self._tasks}
            case _:
                pass

    def _spend(self, usage: Usage, cost: float | None) -> None:
        self.usage += usage
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    def done_early(self) -> frozenset[str] | None:
        """The tasks that are done before there is a plan; None if there is a plan."""
        if self.plan is not None:
            return None
        return frozenset(task.id for task in self._tasks.values() if task.status == "done" and not in_round(task.id))

    @property
    def early_parts(self) -> int:
        """The number of items that were added before there is a plan."""
        return sum(not in_round(part.id) for part in parts_in(self.early.values()))

    def copy(self) -> Ledger:
        """Return an independent copy."""
        parts = {"_tasks": dict(self._tasks), "_attempts": self._attempts.copy(), "approvals": self.approvals.copy()}
        parts |= {"_reopened": dict(self._reopened), "_started": set(self._started)}
        parts |= {"_loaded": {task: dict(names) for task, names in self._loaded.items()}}
        parts |= {"warnings": self.warnings.copy()}
        return replace(self, files=self.files.copy(), early=dict(self.early), **parts)  # type: ignore[arg-type]

    def _accept(self, plan: Plan) -> None:
        """Take the plan; a task that started while it was being written keeps its state if it is unchanged."""
        started = {task.id for task in plan.tasks if self.early.get(task.id) == task}
        plan = with_parts(plan, (part for part in parts_in(self.early.values()) if root_of(part.id) in started))
        kept = {task.id for task in plan.tasks if self.early.get(task.id) == task}
        for task_id in self._attempts.keys() - kept:
            del self._attempts[task_id]
        self._tasks = {task.id: self._tasks[task.id] if task.id in kept else _pending(task) for task in plan.tasks}
        self.plan, self.early = plan, {}

    def _change(self, event: PlanChanged) -> None:
        if self.plan is not None:
            old, self.plan = self.plan, event.applied(self.plan)
            self._reopen_skipped(event, old, self.plan)
        else:
            self.early = {name: task for name, task in self.early.items() if name not in event.dropped}
            self.early |= {task.id: task for task in event.added}
        for task_id in event.dropped:
            self._tasks.pop(task_id, None)
            self._loaded.pop(task_id, None)
        self._tasks |= {task.id: _pending(task) for task in event.added}
        for task_id, before in self._reopened.items() if event.rewired else ():
            ended = before.status in ("failed", "skipped")
            was_replaced = not event.rewired.keys().isdisjoint(with_parents(task_id))
            if ended and was_replaced and task_id in self._tasks:  # it will not be tried again
                self._tasks[task_id] = before

    def _reopen_skipped(self, event: PlanChanged, before: Plan, after: Plan) -> None:
        """Make skipped tasks pending again if their dependencies changed."""
        if event.cause not in ("replan", "person"):
            return
        changed = {task.id for task in event.added}
        changed |= {task.id for task in before.tasks if event.rewired and task.rewired(event.rewired) is not task}
        for name in after.behind(changed) | changed:
            if name in self._tasks and self._tasks[name].status == "skipped":
                self._tasks[name] = replace(self._tasks[name], status="pending", seconds=0.0, error=None)

    def is_pending(self, task: str) -> bool:
        """Whether a task of the plan has not ended."""
        return task in self._tasks and self._tasks[task].status == "pending"

    def _note_skill(self, event: ToolCalled) -> None:
        data = event.envelope.get("data") if event.name == "Skill" else None
        name = data.get("name") if isinstance(data, Mapping) else None  # an imported record may contain anything
        if event.task is not None and isinstance(name, str) and event.envelope.get("status") != "error":
            self._loaded.setdefault(event.task, {})[name] = None

    def _skills_used(self) -> tuple[str, ...]:
        """The skills of finished tasks, and the skills that their models loaded, each once."""
        used: dict[str, None] = {}
        for task in self._tasks.values():
            if task.status == "done":
                own = [task.name] if task.action_type == "skill" and task.name and not self._is_empty(task) else []
                used.update(dict.fromkeys((*own, *self._loaded.get(task.id, ()))))
        return tuple(used)

    def _is_empty(self, task: TaskReport) -> bool:
        """Whether a task had an empty list of items, so that its skill was not used."""
        if task.output not in ("", "[]") or self.plan is None or task.id not in self.plan:
            return False
        return self.plan.task(task.id).for_each is not None

    def _reopen(self) -> None:
        """Make tasks without a result pending again, unless they were replaced; waiting for a person is no attempt."""
        waited = self.finished is not None and self.finished.status == "waiting"
        self.finished = None
        replaced = self.plan.replaced if self.plan is not None else frozenset()
        self._reopened = {task.id: task for task in self._tasks.values() if task.status not in ("done", "pending")}
        for task in self._tasks.values():
            if task.status != "done" and replaced.isdisjoint(with_parents(task.id)):
                if waited and task.status == "pending" and task.id in self._started and self._attempts[task.id]:
                    self._attempts[task.id] -= 1
                self._tasks[task.id] = replace(task, status="pending", seconds=0.0, output=None, error=None)
        self._started.clear()

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """The unanswered requests, without those of tasks that are no longer in the plan."""
        return tuple(
            request for request in self.approvals.waiting if request.task is None or request.task in self._tasks
        )

    def _close(self, event: TaskFinished) -> None:
        self._tasks[event.task] = replace(
            self._tasks[event.task],
            status=event.status,
            attempts=self._attempts[event.task] + self._rounds_of(event.task),
            seconds=event.seconds,
            output=event.output,
            error=event.error,
        )

    def _rounds_of(self, task: str) -> int:
        """The number of started rounds after the first."""
        planned = self.early.get(task) if self.plan is None else self.plan.task(task) if task in self.plan else None
        if planned is None or planned.repeat is None:
            return 0
        return sum(count for name, count in self._attempts.items() if round_of(name) and parent_of(name) == task)

    def _reported(self) -> tuple[TaskReport, ...]:
        """The tasks in the result; a repeated task is listed without its rounds."""
        superseded = self.plan.superseded if self.plan is not None else ()
        return tuple(task for task in self._tasks.values() if not in_round(task.id) and task.id not in superseded)

    def _question(self, end: RunFinished) -> str | None:
        """The first question that the run waits for, such as one of a sub-goal."""
        waiting = self.waiting if end.status == "waiting" else ()
        return next((request.preview for request in waiting if request.kind == "question"), None)

    def result(self, journal: str | None = None) -> Result:
        """Return the current result; a run that has not ended counts as interrupted."""
        end = self.finished or RunFinished("interrupted")
        return Result(
            run_id=self.run_id,
            status=end.status,
            goal=self.goal,
            answer=end.answer,
            error=end.error,
            question=end.question or self._question(end),
            skills=self.skills,
            tasks=self._reported(),
            usage=self.usage,
            cost_usd=None if self.cost is None else round(self.cost, COST_PLACES),
            journal=journal,
            seconds=self._seconds,
            plan=self.plan,
            code=end.code,
            data=end.data,
            waiting=self.waiting,
            artifacts=self.files.listed(),
            model=self.model,
            skills_used=self._skills_used(),
            warnings=self.warnings.texts(),
            conversation=self.conversation,
            recipe=self.recipe,
            limit=end.limit,
            needed=end.needed,
        )


def _pending(task: Task) -> TaskReport:
    return TaskReport(task.id, task.action_type, task.name)
