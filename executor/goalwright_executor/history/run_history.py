"""A run read back from its record: its state, and all the work that it has finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.replans import Replans
from goalwright_executor.model_loop.form import UnfitAnswer
from goalwright_executor.results.memo import FinishedPart, FinishedWork
from goalwright_planner.events import (
    AnswerChecked,
    CallBroken,
    CallFailed,
    CallFinished,
    CallStarted,
    CatalogueTaken,
    ConditionChecked,
    EarlierOutputRead,
    Event,
    FileRead,
    ImagesGiven,
    PlanChanged,
    PlanMade,
    PlanRefused,
    ResultChecked,
    RunNoted,
    RunResumed,
    RunStarted,
    RunTagged,
    SkillLoaded,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
    TurnTakenBack,
    decode,
)
from goalwright_planner.events.tasks import FROM_CACHE
from goalwright_planner.plan.graph_faults import graph_faults
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.references import earlier_id
from goalwright_planner.plan.task_id import parent_of, round_id
from goalwright_skills.errors import InputError
from goalwright_skills.tools.envelope import Envelope
from goalwright_skills.tools.recorded import RecordedTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.stores.row import Row
    from goalwright_planner.model import Usage
    from goalwright_planner.plan.task import Task


@dataclass(slots=True)
class RunHistory:
    """What the record says about a run; recorded paths are turned into paths of this checkout.

    `planned` is the last of the `plans`: those before it were questions, which were answered. `catalogues` and
    `selections` are those of sub-goals, by task. `paid` has what the calls of each task cost, and their tokens if the
    cost is unknown.
    `readings` says how a planner's answers were read, by sub-goal and number of the change.
    `settings_in_force` has the settings of the start and of each resume, `asked_under` the index into it under which
    a role was last asked, by role and task. `fixed` are the tasks that the planner was told to keep, because they began
    before the run was stopped, in the first request that it has answered. `earlier_outputs` are results of earlier
    turns that its tasks read. `images` are those that came with the goal. `has_begun` is whether a task has started
    since there was a plan, `taken_back` whether a person took it back as a turn of a conversation. `lost` are the
    seconds that it worked until its process died, which no event counts.
    """

    started: RunStarted | None = None
    catalogue: CatalogueTaken | None = None
    selected: SkillsSelected | None = None
    catalogues: dict[str, CatalogueTaken] = field(default_factory=dict)
    selections: dict[str, SkillsSelected] = field(default_factory=dict)
    planned: PlanMade | None = None
    plans: list[PlanMade] = field(default_factory=list)
    readings: dict[tuple[str | None, int | None], list[PlanMade | PlanRefused]] = field(default_factory=dict)
    calls: list[CallStarted] = field(default_factory=list)
    failed: dict[str, CallFailed] = field(default_factory=dict)
    broken: list[CallBroken] = field(default_factory=list)
    loaded: dict[tuple[str | None, str], str] = field(default_factory=dict)
    tasks: dict[str, TaskFinished] = field(default_factory=dict)
    files: dict[tuple[str, str], FileRead] = field(default_factory=dict)
    images: ImagesGiven | None = None
    earlier_outputs: dict[str, str] = field(default_factory=dict)
    finished: FinishedWork = field(default_factory=FinishedWork)
    settings_in_force: list[Mapping[str, Any]] = field(default_factory=list)
    asked_under: dict[tuple[str, str | None], int] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    replans: Replans = field(default_factory=Replans)
    paid: dict[str, tuple[float, int]] = field(default_factory=dict)
    last_seq: int = 0
    lost: float = 0.0
    has_begun: bool = False
    taken_back: bool = False
    fixed: tuple[Task, ...] = ()
    _latest: dict[str | None, Event] = field(default_factory=dict)
    _last_reply: dict[tuple[str, str | None], str] = field(default_factory=dict)
    _inputs: dict[str, str] = field(default_factory=dict)
    _reuse_recorded: dict[str, TaskReused] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row], capture: Capture) -> RunHistory:
        """The history in a run's rows, given in order."""
        history = cls()
        began = last = ""
        for row in rows:
            history.last_seq = row.seq
            event = decode(row.type, capture.local(row.body))
            if event is not None:
                history.note(event)
            if isinstance(event, RunStarted | RunResumed):
                began = row.at
            if not isinstance(event, RunTagged | RunNoted):  # a person may tag it long after its process died
                last = row.at
        if began and history.ledger.finished is None:
            worked = datetime.fromisoformat(last) - datetime.fromisoformat(began)
            history.lost = max(0.0, worked.total_seconds())
        history._check()
        return history

    def note(self, event: Event) -> None:
        """Add an event."""
        self.ledger.note(event)
        self.finished.approvals.note(event)
        self.replans.note(event)
        match event:
            case RunStarted() | RunResumed() | CatalogueTaken() | SkillsSelected():
                self._note_start(event)
            case PlanRefused() | PlanMade() | PlanChanged():
                self._note_plan(event)
            case SkillLoaded() | EarlierOutputRead() | FileRead() | ImagesGiven():
                self._note_input(event)
            case CallStarted() | CallFailed() | CallFinished() | CallBroken():
                self._note_call(event)
            case TaskStarted() | TaskReused() | TaskFinished():
                self._note_task(event)
            case ResultChecked() | ConditionChecked(round=int()):
                self._latest[event.task] = event
            case AnswerChecked():
                self.finished.verdicts[event.answer] = event.faults
            case ToolCalled():
                self._note_tool(event)
            case TurnTakenBack():
                self.taken_back = True
            case _:
                pass

    def _note_start(self, event: RunStarted | RunResumed | CatalogueTaken | SkillsSelected) -> None:
        """Add what the run, or a sub-goal, began with."""
        match event:
            case RunStarted():
                self.started = event
                self.settings_in_force.append(event.settings)
                self._note_reused(event)
            case RunResumed():
                self.settings_in_force.append(event.settings)
                self.fixed = self.fixed_now
            case CatalogueTaken(task=str(task)):
                self.catalogues[task] = event
            case CatalogueTaken():
                self.catalogue = event
            case SkillsSelected(task=str(task)):
                self.selections[task] = event
            case SkillsSelected():
                self.selected = event

    def _note_plan(self, event: PlanRefused | PlanMade | PlanChanged) -> None:
        match event:
            case PlanRefused():
                self._note_refusal(event)
            case PlanMade():
                self.planned, self.has_begun = event, False
                self.plans.append(event)
                self._note_reading((None, None), event, event.attempts)
                self.finished.refusals.end()
            case PlanChanged():
                if event.cause == "goal" and event.added:  # its plan stands, whatever becomes of the tasks in it
                    self._latest[event.of] = event
                if event.cause in ("replan", "person"):  # what was skipped may wait again
                    skipped = [name for name, end in self.tasks.items() if end.status == "skipped"]
                    for name in filter(self.ledger.is_pending, skipped):
                        del self.tasks[name]
                for task_id in event.dropped:
                    self.finished.reused.pop(task_id, None)
                    self._reuse_recorded.pop(task_id, None)
                    if event.cause == "stream":  # a task of this id ends once more, and is told of
                        self._forget_output(task_id)

    def _note_input(self, event: SkillLoaded | EarlierOutputRead | FileRead | ImagesGiven) -> None:
        """Add what a task was given to read."""
        match event:
            case SkillLoaded():
                self.loaded[event.task, event.name] = event.content
            case EarlierOutputRead():
                self.earlier_outputs[earlier_id(event.turn, event.task)] = event.text
            case FileRead():
                self.files[event.task, event.path] = event
            case ImagesGiven():
                self.images = event

    def _note_task(self, event: TaskStarted | TaskReused | TaskFinished) -> None:
        match event:
            case TaskStarted():
                self._inputs[event.task] = event.inputs
                self.has_begun = self.planned is not None
                self.finished.reused.pop(event.task, None)  # it is done now, or found elsewhere for these inputs
            case TaskReused():
                self._reuse_recorded[event.task] = event
                self.finished.reused[event.task] = event.output
                self.finished.files.add(event.task, event.artifacts, event.images)
                if event.source == FROM_CACHE:
                    self.finished.outputs[event.task, self._inputs.get(event.task, "")] = event.output
            case TaskFinished():
                self.tasks[event.task] = event
                if event.status == "done" and event.output is not None:
                    self.finished.outputs[event.task, self._inputs.get(event.task, "")] = event.output

    def _note_tool(self, event: ToolCalled) -> None:
        self._latest[event.task] = event
        self.finished.files.note(event.task, event.envelope)
        if event.call:
            self.finished.envelopes[event.call] = Envelope.from_dict(event.envelope)

    def _note_reading(self, place: tuple[str | None, int | None], event: PlanMade | PlanRefused, attempt: int) -> None:
        """Add how an answer was read; planning that failed or was interrupted asks for it again."""
        readings = self.readings.setdefault(place, [])
        while readings and isinstance(readings[-1], PlanRefused) and readings[-1].attempt >= attempt:
            readings.pop()
        readings.append(event)

    def _note_refusal(self, event: PlanRefused) -> None:
        self._note_reading((event.task, event.change), event, event.attempt)
        role = "decomposer" if event.change is None else "replanner"
        self.finished.refusals.note(event, self._last_reply.get((role, event.task), ""))

    def _note_reused(self, event: RunStarted) -> None:
        """Outputs of planned tasks count by id; those of grown ones are found by what the tasks were told."""
        for output in planned_reuse(event):
            self.finished.reused[output.task] = output.output
            self.finished.files.add(output.task, output.artifacts, output.images)
        self.finished.parts += parts_of(event)

    def _check(self) -> None:
        """Raise if the plan cannot be run as it was last: a record may come from anyone.

        Only at the end: a plan of many rounds has a change for each.
        """
        plan = self.plan or Plan(tuple(self.ledger.early.values()))
        changed = plan.grown or plan.dropped or plan.replaced or self.plan is None
        if faults := list(graph_faults(plan)) if changed else []:
            what = f"the changes of its plan do not fit together: {'; '.join(faults)}"
            raise InputError(
                f"the record is malformed: {what}", hint="export the run again with goalwright trace export"
            )

    @property
    def plan(self) -> Plan | None:
        """The plan as it was last: the one that was made, with every change since."""
        return self.ledger.plan

    @property
    def functions(self) -> list[RecordedTool]:
        """The functions that the run was offered as tools."""
        specs = self.catalogue.functions if self.catalogue is not None else ()
        return [RecordedTool(spec.name, spec.description, spec.parameters) for spec in specs]

    @property
    def fixed_now(self) -> tuple[Task, ...]:
        """The tasks that the planner must keep if the run is resumed now; what it has answered is not asked again."""
        if ("decomposer", None) in self._last_reply:
            return self.fixed
        return tuple(task for task in self.ledger.early.values() if parent_of(task.id) is None)

    @property
    def recorded_reuse(self) -> tuple[TaskReused, ...]:
        """The outputs of other runs that tasks of its plan have."""
        return tuple(
            output for output in self._reuse_recorded.values() if self.plan is not None and output.task in self.plan
        )

    @property
    def unrecorded_reuse(self) -> tuple[TaskReused, ...]:
        """The outputs that the run was given at its start, but whose own events it did not get to record."""
        outputs = planned_reuse(self.started) if self.started is not None else ()
        return tuple(output for output in outputs if output.task not in self._reuse_recorded)

    def reopen(self) -> None:
        """Forget the last answer of each failed task, or of failed planning: reused, it would fail them again.

        Earlier answers stay, and so does the last one if a call failed after it. A result that does not pass its check
        is forgotten with the verdict, and so is that of the last round of a task. A task that ended well without one of
        its parts is forgotten too, so that it goes on in them again. What another run came to counts for the same
        inputs only, as every output does.
        """
        for output in self._reuse_recorded.values():
            if output.source == FROM_CACHE:
                self.finished.reused.pop(output.task, None)
        gone = self.plan.replaced | self.plan.superseded if self.plan is not None else ()
        failed: list[str | None] = [
            name for name, task in self.tasks.items() if task.status == "failed" and name not in gone
        ]
        end = self.ledger.finished
        if self.planned is None and end is not None and end.status == "failed":
            failed.append(None)
        if end is not None and end.code == UnfitAnswer.code:
            self.finished.replies.pop(self._last_reply.get(("synthesis", None), ""), None)
        for name in failed:
            self._forget_last(name)
            self._forget_parents(name)

    def _forget_last(self, name: str | None) -> None:
        """Forget what a failed task came to last: the answer of a model or a tool, with the verdict on it."""
        match self._latest.get(name):
            case CallFinished(request=key):
                self.finished.replies.pop(key, None)
            case ResultChecked():
                for role in ("task", "checker"):
                    self.finished.replies.pop(self._last_reply.get((role, name), ""), None)
            case ConditionChecked(task=task, round=int(number)) if self._was_last(task, number):
                self.finished.replies.pop(self._last_reply.get(("condition", name), ""), None)
                self._forget_output(round_id(task, number))
                self._forget_last(round_id(task, number))
            case ToolCalled(call=key):
                self.finished.envelopes.pop(key, None)
            case _:
                pass

    def _was_last(self, task: str, number: int) -> bool:
        """Whether a run ended with this round as the last that its task may have; it is worth another try then.

        A task that came no further has another reason; in a run that was only interrupted, the rounds stand.
        """
        end, repeat = self.ledger.finished, None
        if end is None or end.status not in ("partial", "failed"):
            return False
        if self.plan is not None and task in self.plan:
            repeat = self.plan.task(task).repeat
        return repeat is not None and 1 < repeat.most <= number

    def _forget_parents(self, name: str | None) -> None:
        while name is not None and (name := parent_of(name)) is not None:
            self._forget_output(name)

    def _forget_output(self, name: str) -> None:
        for key in [key for key in self.finished.outputs if key[0] == name]:
            del self.finished.outputs[key]

    def _note_call(self, event: CallStarted | CallFailed | CallFinished | CallBroken) -> None:
        if not isinstance(event, CallBroken):  # the call itself may still end well
            self._latest[event.task] = event
        match event:
            case CallStarted():
                self.calls.append(event)
                if event.about:
                    about = self.finished.calls.setdefault(event.about, [])
                    if all(call.request != event.request for call in about):  # one that failed may be sent again
                        about.append(event)
                self.asked_under[event.role, event.task] = len(self.settings_in_force) - 1
            case CallFailed():
                self.failed[event.request] = event
                self.finished.replies.pop(event.request, None)  # it was forgotten and asked for again
            case CallFinished():
                self.finished.replies[event.request] = event.reply
                self._last_reply[event.role, event.task] = event.request
                self._note_paid(event.task, event.reply.usage, event.reply.cost)
            case CallBroken():
                self.broken.append(event)
                self._note_paid(event.task, event.usage, event.cost)

    def _note_paid(self, task: str | None, usage: Usage, paid: float | None) -> None:
        if task is not None:
            cost, tokens = self.paid.get(task, (0.0, 0))
            self.paid[task] = cost + (paid or 0.0), tokens + (usage.tokens if paid is None else 0)


def planned_reuse(event: RunStarted) -> tuple[TaskReused, ...]:
    """The outputs that a run was given for planned tasks; a grown task's is recorded once an equal one grows."""
    return tuple(output for output in event.reused if parent_of(output.task) is None)


def parts_of(event: RunStarted) -> list[FinishedPart]:
    """The grown tasks of an earlier run that a run was given with their outputs."""
    plan = event.plan
    grown = (output for output in event.reused if parent_of(output.task) is not None)
    return [FinishedPart(plan.task(output.task), output) for output in grown if plan and output.task in plan]


def reused_by(event: PlanMade | PlanChanged, outputs: Iterable[TaskReused]) -> list[TaskReused]:
    """The reused outputs of the tasks that an event brings into the plan."""
    tasks = event.plan.tasks if isinstance(event, PlanMade) else event.added
    joined = {task.id for task in tasks}
    return [output for output in outputs if output.task in joined]
