"""A stored run read back from its events: its state, and all the work that it has finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from goalwright_executor.history.folds import Inputs, ModelCalls, Plans
from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.replans import Replans
from goalwright_executor.model_loop.form import UnfitAnswer
from goalwright_executor.results.finished_work import FinishedPart, FinishedWork
from goalwright_planner.events import (
    AnswerChecked,
    CallFailed,
    CallFinished,
    CallStarted,
    ConditionChecked,
    Event,
    PlanChanged,
    PlanMade,
    PlanRefused,
    ResultChecked,
    RunNoted,
    RunResumed,
    RunStarted,
    RunTagged,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
    TurnTakenBack,
    decode,
)
from goalwright_planner.events.tasks import FROM_CACHE
from goalwright_planner.plan.plan import Plan, graph_faults
from goalwright_planner.plan.task_id import parent_of, round_id
from goalwright_skills.errors import InputError
from goalwright_skills.tools.envelope import Envelope
from goalwright_skills.tools.tool import RecordedTool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.stores.row import Row
    from goalwright_planner.plan.task import Task


@dataclass(slots=True)
class RunHistory:
    """The folds of a run's events, and its finished work; recorded paths are turned into paths of this checkout.

    `tasks` has the last end of each task. `fixed` are the tasks that the planner had to keep, because they had started
    before the run was stopped, in the first request that it answered. `taken_back` is whether a person removed the run
    from its conversation. `lost` is the time from the last start to the death of its process, in seconds, which no
    event counts.
    """

    ledger: Ledger = field(default_factory=Ledger)
    inputs: Inputs = field(default_factory=Inputs)
    plans: Plans = field(default_factory=Plans)
    calls: ModelCalls = field(default_factory=ModelCalls)
    replans: Replans = field(default_factory=Replans)
    finished: FinishedWork = field(init=False)
    tasks: dict[str, TaskFinished] = field(default_factory=dict)
    fixed: tuple[Task, ...] = ()
    taken_back: bool = False
    last_seq: int = 0
    lost: float = 0.0
    _latest: dict[str | None, Event] = field(default_factory=dict)
    _input_hashes: dict[str, str] = field(default_factory=dict)
    _reused: dict[str, TaskReused] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.finished = FinishedWork(approvals=self.ledger.approvals)

    @classmethod
    def of(cls, rows: Iterable[Row], capture: Capture) -> RunHistory:
        """Return the history in a run's rows, which must be in order."""
        history = cls()
        began = ended = ""
        for row in rows:
            history.last_seq = row.seq
            event = decode(row.type, capture.local(row.body))
            if event is not None:
                history.note(event)
            if isinstance(event, RunStarted | RunResumed):
                began = row.at
            if not isinstance(event, RunTagged | RunNoted):  # a person may tag it long after its process died
                ended = row.at
        if began and history.ledger.finished is None:
            worked = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
            history.lost = max(0.0, worked.total_seconds())
        history._check()
        return history

    def note(self, event: Event) -> None:
        """Add an event."""
        for fold in (self.ledger, self.inputs, self.plans, self.calls, self.replans):
            fold.note(event)
        match event:
            case RunStarted():
                self._note_given_outputs(event)
            case RunResumed():
                self.fixed = self.fixed_now
            case PlanRefused():
                role = "decomposer" if event.change is None else "replanner"
                self.finished.refusals.note(event, self.calls.answered.get((role, event.task), ""))
            case PlanMade():
                self.finished.refusals.end()
            case PlanChanged():
                self._note_change(event)
            case CallStarted() | CallFailed() | CallFinished():
                self._latest[event.task] = event
                self._note_call(event)
            case TaskStarted() | TaskReused() | TaskFinished():
                self._note_task(event)
            case ResultChecked() | ConditionChecked(round=int()):
                self._latest[event.task] = event
            case AnswerChecked():
                self.finished.verdicts[event.answer] = event.faults
            case ToolCalled():
                self._latest[event.task] = event
                self.finished.files.note(event.task, event.envelope)
                if event.call:
                    self.finished.envelopes[event.call] = Envelope.from_dict(event.envelope)
            case TurnTakenBack():
                self.taken_back = True
            case _:
                pass

    def _note_given_outputs(self, event: RunStarted) -> None:
        """Outputs of planned tasks are reused by id; those of grown tasks only if an equal task grows."""
        for output in planned_reuse(event):
            self.finished.reused[output.task] = output.output
            self.finished.files.add(output.task, output.artifacts, output.images)
        plan = event.plan
        grown = (output for output in event.reused if parent_of(output.task) is not None)
        self.finished.parts += [
            FinishedPart(plan.task(output.task), output) for output in grown if plan and output.task in plan
        ]

    def _note_change(self, event: PlanChanged) -> None:
        if event.cause == "goal" and event.added:  # a sub-goal's plan stays, even if its tasks fail
            self._latest[event.of] = event
        if event.cause in ("replan", "person"):  # skipped tasks may be pending again
            skipped = [name for name, end in self.tasks.items() if end.status == "skipped"]
            for name in filter(self.ledger.is_pending, skipped):
                del self.tasks[name]
        for task_id in event.dropped:
            self.finished.reused.pop(task_id, None)
            self._reused.pop(task_id, None)
            if event.cause == "stream":  # a new task may have the same id
                self._forget_output(task_id)

    def _note_call(self, event: CallStarted | CallFailed | CallFinished) -> None:
        match event:
            case CallStarted(about=str(about)) if about:
                calls = self.finished.calls.setdefault(about, [])
                if all(call.request != event.request for call in calls):  # a failed call may be sent again
                    calls.append(event)
            case CallFailed():
                self.finished.replies.pop(event.request, None)  # a forgotten reply was requested again
            case CallFinished():
                self.finished.replies[event.request] = event.reply
            case _:
                pass

    def _note_task(self, event: TaskStarted | TaskReused | TaskFinished) -> None:
        match event:
            case TaskStarted():
                self._input_hashes[event.task] = event.inputs
                self.finished.reused.pop(event.task, None)  # its output is looked up by these inputs now
            case TaskReused():
                self._reused[event.task] = event
                self.finished.reused[event.task] = event.output
                self.finished.files.add(event.task, event.artifacts, event.images)
                if event.source == FROM_CACHE:
                    self._note_output(event.task, event.output)
            case TaskFinished():
                self.tasks[event.task] = event
                if event.status == "done" and event.output is not None:
                    self._note_output(event.task, event.output)

    def _note_output(self, task: str, output: str) -> None:
        self.finished.outputs[task, self._input_hashes.get(task, "")] = output

    def _check(self) -> None:
        """Raise if the last plan cannot be run: an imported record may contain anything.

        Only the last plan is checked, because a plan of many rounds has a change for each round.
        """
        plan = self.plan or Plan(tuple(self.ledger.early.values()))
        changed = plan.grown or plan.dropped or plan.replaced or self.plan is None
        if faults := list(graph_faults(plan)) if changed else []:
            raise InputError(
                f"the record is malformed: the changes of its plan do not fit together: {'; '.join(faults)}",
                hint="export the run again with goalwright trace export",
            )

    @property
    def started(self) -> RunStarted | None:
        """The first event; None in a new run."""
        return self.inputs.started

    @property
    def plan(self) -> Plan | None:
        """The last plan, with all changes."""
        return self.ledger.plan

    @property
    def functions(self) -> list[RecordedTool]:
        """The functions that were offered to the run as tools."""
        catalogue = self.inputs.catalogues.get(None)
        specs = catalogue.functions if catalogue is not None else ()
        return [RecordedTool(spec.name, spec.description, spec.parameters) for spec in specs]

    @property
    def fixed_now(self) -> tuple[Task, ...]:
        """The tasks that the planner must keep if the run is resumed now; an answered request is not sent again."""
        if ("decomposer", None) in self.calls.answered:
            return self.fixed
        return tuple(task for task in self.ledger.early.values() if parent_of(task.id) is None)

    @property
    def recorded_reuse(self) -> tuple[TaskReused, ...]:
        """The outputs of other runs that tasks of the plan have."""
        return tuple(output for output in self._reused.values() if self.plan is not None and output.task in self.plan)

    @property
    def unrecorded_reuse(self) -> tuple[TaskReused, ...]:
        """The outputs that the run was given at its start and whose own events are not recorded yet."""
        outputs = planned_reuse(self.started) if self.started is not None else ()
        return tuple(output for output in outputs if output.task not in self._reused)

    def reopen(self) -> None:
        """Forget the last answer of each failed task, or of failed planning: with it they would fail again.

        Earlier answers stay, and so does the last one if a call failed after it. A result that failed its check is
        forgotten with its verdict, and so is the last round of a task. A finished task is forgotten if one of its parts
        failed, so that the part is tried again. Outputs from the cache are looked up by their inputs, as all outputs.
        """
        for output in self._reused.values():
            if output.source == FROM_CACHE:
                self.finished.reused.pop(output.task, None)
        gone = self.plan.replaced | self.plan.superseded if self.plan is not None else ()
        failed: list[str | None] = [
            name for name, task in self.tasks.items() if task.status == "failed" and name not in gone
        ]
        end = self.ledger.finished
        if not self.plans.made and end is not None and end.status == "failed":
            failed.append(None)
        if end is not None and end.code == UnfitAnswer.code:
            self._forget_reply("synthesis", None)
        for name in failed:
            self._forget_last(name)
            while name is not None and (name := parent_of(name)) is not None:
                self._forget_output(name)

    def _forget_last(self, name: str | None) -> None:
        """Forget the last answer of a failed task, from a model or a tool, and the verdict on it."""
        match self._latest.get(name):
            case CallFinished(request=key):
                self.finished.replies.pop(key, None)
            case ResultChecked():
                for role in ("task", "checker"):
                    self._forget_reply(role, name)
            case ConditionChecked(task=task, round=int(number)) if self._was_last_round(task, number):
                self._forget_reply("condition", name)
                self._forget_output(round_id(task, number))
                self._forget_last(round_id(task, number))
            case ToolCalled(call=key):
                self.finished.envelopes.pop(key, None)
            case _:
                pass

    def _was_last_round(self, task: str, number: int) -> bool:
        """Whether a run ended because this round was the last that its task may have; it is then tried again.

        A task with fewer rounds failed for another reason, and in an interrupted run the rounds stay.
        """
        end, repeat = self.ledger.finished, None
        if end is None or end.status not in ("partial", "failed"):
            return False
        if self.plan is not None and task in self.plan:
            repeat = self.plan.task(task).repeat
        return repeat is not None and 1 < repeat.most <= number

    def _forget_reply(self, role: str, task: str | None) -> None:
        self.finished.replies.pop(self.calls.answered.get((role, task), ""), None)

    def _forget_output(self, name: str) -> None:
        for key in [key for key in self.finished.outputs if key[0] == name]:
            del self.finished.outputs[key]


def planned_reuse(event: RunStarted) -> tuple[TaskReused, ...]:
    """Return the outputs given for planned tasks; a grown task's output is recorded once an equal task grows."""
    return tuple(output for output in event.reused if parent_of(output.task) is None)


def reused_by(event: PlanMade | PlanChanged, outputs: Iterable[TaskReused]) -> list[TaskReused]:
    """Return the reused outputs of the tasks that an event adds to the plan."""
    tasks = event.plan.tasks if isinstance(event, PlanMade) else event.added
    added = {task.id for task in tasks}
    return [output for output in outputs if output.task in added]
