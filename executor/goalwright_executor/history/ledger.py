"""A run's state, computed from its events: the same while it runs, when it ends, and when it is read later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_executor.history.result import Result, TaskReport
from goalwright_executor.history.run_warnings import RunWarnings
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
    Warned,
)
from goalwright_planner.events.run import PLAN_NOT_CHANGED
from goalwright_planner.model import Usage
from goalwright_planner.plan.changes.early_parts import parts_in, with_parts
from goalwright_planner.plan.task_id import in_round, parent_of, root_of, round_of, with_parents

if TYPE_CHECKING:
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


@dataclass(slots=True)
class Ledger:
    """Takes a run's events in order; `result` gives the state at any time.

    `early` are tasks that began before there was a plan.
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
    _reopened: dict[str, TaskReport] = field(default_factory=dict)  # how tasks stood before the last resume
    _begun: set[str] = field(default_factory=set)  # tasks that started since
    _loaded: dict[str, dict[str, None]] = field(default_factory=dict)  # the skills that models loaded, by task

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
                self._begun.add(task)
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
                self.files.note(event.task, event.envelope)
                self._note_skill(event)
            case Warned():
                self.warnings.note(event.message)
            case ApprovalAsked() | ApprovalGiven():
                self.approvals.note(event)
            case RunFinished():
                self.finished = event
                self._seconds += event.seconds
                if event.code == PLAN_NOT_CHANGED:  # nothing was tried again
                    self._tasks |= {name: task for name, task in self._reopened.items() if name in self._tasks}
            case _:
                pass

    def _spend(self, usage: Usage, cost: float | None) -> None:
        self.usage += usage
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    def done_early(self) -> frozenset[str] | None:
        """The tasks that have a result before there is a plan; None if there is one."""
        if self.plan is not None:
            return None
        return frozenset(task.id for task in self._tasks.values() if task.status == "done" and not in_round(task.id))

    @property
    def early_parts(self) -> int:
        """How many items have grown before there is a plan."""
        return sum(not in_round(part.id) for part in parts_in(self.early.values()))

    def copy(self) -> Ledger:
        """The same state, to be continued apart."""
        parts = {"_tasks": dict(self._tasks), "_attempts": self._attempts.copy(), "approvals": self.approvals.copy()}
        parts |= {"_reopened": dict(self._reopened), "_begun": set(self._begun)}
        parts |= {"_loaded": {task: dict(names) for task, names in self._loaded.items()}}
        parts |= {"warnings": self.warnings.copy()}
        return replace(self, files=self.files.copy(), early=dict(self.early), **parts)  # type: ignore[arg-type]

    def _accept(self, plan: Plan) -> None:
        """Take the plan; a task that began while it was being written stays as it is, if the plan has it so."""
        begun = {task.id for task in plan.tasks if self.early.get(task.id) == task}
        plan = with_parts(plan, (part for part in parts_in(self.early.values()) if root_of(part.id) in begun))
        kept = {task.id for task in plan.tasks if self.early.get(task.id) == task}
        for task_id in self._attempts.keys() - kept:
            del self._attempts[task_id]
        self._tasks = {task.id: self._tasks[task.id] if task.id in kept else _pending(task) for task in plan.tasks}
        self.plan, self.early = plan, {}

    def _change(self, event: PlanChanged) -> None:
        if self.plan is not None:
            old, self.plan = self.plan, event.applied(self.plan)
            self._look_again(event, old, self.plan)
        else:
            self.early = {name: task for name, task in self.early.items() if name not in event.dropped}
            self.early |= {task.id: task for task in event.added}
        for task_id in event.dropped:
            self._tasks.pop(task_id, None)
            self._loaded.pop(task_id, None)
        self._tasks |= {task.id: _pending(task) for task in event.added}
        for task_id, before in self._reopened.items() if event.rewired else ():
            ended = before.status in ("failed", "skipped")
            if (
                ended and not event.rewired.keys().isdisjoint(with_parents(task_id)) and task_id in self._tasks
            ):  # it will not be tried again
                self._tasks[task_id] = before

    def _look_again(self, event: PlanChanged, before: Plan, after: Plan) -> None:
        """Let the tasks wait again that were skipped, and now build on something else."""
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
        """Take note of a skill that a task's model has loaded."""
        data = event.envelope.get("data") if event.name == "Skill" else None
        name = data.get("name") if isinstance(data, Mapping) else None  # a record may come from anyone
        if event.task is not None and isinstance(name, str) and event.envelope.get("status") != "error":
            self._loaded.setdefault(event.task, {})[name] = None

    def _skills_used(self) -> tuple[str, ...]:
        """The skills of finished tasks, each once: their own, and those that their models loaded."""
        used: dict[str, None] = {}
        for task in self._tasks.values():
            if task.status == "done":
                own = [task.name] if task.action_type == "skill" and task.name and not self._is_empty(task) else []
                used.update(dict.fromkeys((*own, *self._loaded.get(task.id, ()))))
        return tuple(used)

    def _is_empty(self, task: TaskReport) -> bool:
        """Whether a task went through a list without items, so that nothing was done."""
        if task.output not in ("", "[]") or self.plan is None or task.id not in self.plan:
            return False
        return self.plan.task(task.id).for_each is not None

    def _reopen(self) -> None:
        """Resume: tasks without a result are pending again, unless others have taken their place.

        Waiting for a person is not an attempt.
        """
        waited = self.finished is not None and self.finished.status == "waiting"
        self.finished = None
        replaced = self.plan.replaced if self.plan is not None else frozenset()
        self._reopened = {task.id: task for task in self._tasks.values() if task.status not in ("done", "pending")}
        for task in self._tasks.values():
            if task.status != "done" and replaced.isdisjoint(with_parents(task.id)):
                if waited and task.status == "pending" and task.id in self._begun and self._attempts[task.id]:
                    self._attempts[task.id] -= 1
                self._tasks[task.id] = replace(task, status="pending", seconds=0.0, output=None, error=None)
        self._begun.clear()

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """The requests without an answer; not those of tasks that are no longer in the plan."""
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
        """How often the rounds of a task were begun, from the second on."""
        known = self.early.get(task) if self.plan is None else self.plan.task(task) if task in self.plan else None
        if known is None or known.repeat is None:
            return 0
        return sum(count for name, count in self._attempts.items() if round_of(name) and parent_of(name) == task)

    def _reported(self) -> tuple[TaskReport, ...]:
        """The tasks of the result: one that was repeated stands for all its rounds."""
        superseded = self.plan.superseded if self.plan is not None else ()
        return tuple(task for task in self._tasks.values() if not in_round(task.id) and task.id not in superseded)

    def _question(self, end: RunFinished) -> str | None:
        """The first question that a run waits with for an answer, such as that of a sub-goal."""
        waiting = self.waiting if end.status == "waiting" else ()
        return next((request.preview for request in waiting if request.kind == "question"), None)

    def result(self, journal: str | None = None) -> Result:
        """The run's current result; a run that has not ended counts as interrupted."""
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
            warnings=self.warnings.told(),
            conversation=self.conversation,
            recipe=self.recipe,
        )


def _pending(task: Task) -> TaskReport:
    return TaskReport(task.id, task.action_type, task.name)
