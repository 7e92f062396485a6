"""A recorded run as a model and a memo: recorded replies answer, and whatever differs today is drift.

A request is answered by the recorded reply to the same request. A request that differs is drift; it is then answered by
the reply that was given in its place, so that the replay continues and finds every difference.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from weft_executor.history.difference import (
    difference,
    of_changes,
    of_listings,
    of_messages,
    of_names,
    of_plans,
    of_tasks,
)
from weft_executor.history.replay_approvals import ReplayApprovals, wait_for
from weft_executor.tasks.memo import FinishedWork, Memo
from weft_planner.errors import ModelError, RecordEnded
from weft_planner.events import (
    CallFinished,
    CallStarted,
    CatalogueTaken,
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    SkillLoaded,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    ToolCalled,
)
from weft_skills.errors import WeftError
from weft_skills.tools.envelope import Context, failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weft_executor.capture.capture import Capture
    from weft_executor.history.run_history import RunHistory
    from weft_planner.events import Record
    from weft_planner.model import Reply, Request
    from weft_planner.plan.plan import Plan
    from weft_skills.tools.envelope import Envelope
    from weft_skills.tools.tool import Tool


_UNFINISHED = ("interrupted", "stopped", "waiting")


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between the record and today: where in the run, and what."""

    where: str
    what: str

    def to_dict(self) -> dict[str, str]:
        """The drift as `--json` prints it."""
        return asdict(self)


@dataclass(slots=True)
class Tape:
    """A recorded run that is played back against today's skills, tools and prompts; collects the drift."""

    history: RunHistory
    capture: Capture
    drift: list[Drift] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)
    _asked: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    _planned: int = 0
    _changes: int = 0
    _replans: int = 0

    def differs(self, where: str, what: str) -> None:
        """Add a difference, once."""
        found = Drift(where, what)
        if found not in self.drift:
            self.drift.append(found)

    def note(self, event: Event) -> None:
        """Compare an event of the replay with the record."""
        history = self.history
        match event:
            case CatalogueTaken():
                self._compare_listings(event)
            case SkillsSelected():
                self._compare_selection(event)
            case PlanMade() if history.planned is not None:
                then_planned = history.plans[self._planned] if self._planned < len(history.plans) else history.planned
                self._planned += 1
                self._all_differ("plan", of_plans(then_planned.plan, event.plan))
            case PlanChanged(cause="replan" | "person"):
                self._compare_replan(event)
            case PlanChanged() if history.plan is not None:
                self._compare_change(history.plan, event)
            case SkillLoaded():
                self._compare_skill(event)
            case TaskFinished():
                self._compare_task(event)
            case RunFinished():
                self._compare_end(event)
            case _:
                pass

    def answer(self, request: Request, keys: list[str]) -> tuple[str, Reply]:
        """The recorded reply and its key; raises what the recorded call raised."""
        place = (request.role, request.task)
        self._asked[place] += 1
        key = next((key for key in keys if self._knows(key)), None)
        if key is None:
            key = self._nearest(request, self._asked[place])
        self._used.add(key)
        reply = self.history.finished.replies.get(key)
        if reply is not None:
            return key, reply
        if key in self.history.failed:
            raise ModelError(self.history.failed[key].error)
        raise self.end_of(request.task)

    def end_of(self, task: str | None) -> WeftError:
        """Why there is no recorded outcome: the task failed for another reason, or the record ends here."""
        then = self.history.tasks.get(task or "")
        if then is not None and then.status == "failed":
            return WeftError(then.error or "it failed")
        return RecordEnded("the record ends here")

    def was_cut_off(self, task: str | None) -> bool:
        """Whether the record of a task, or of the run, stops before it ended."""
        if task is not None:
            then = self.history.tasks.get(task)
            return then is None or then.status in ("cancelled", "pending", "failed")
        end = self.history.ledger.finished
        return end is None or end.status in _UNFINISHED

    def _knows(self, key: str) -> bool:
        return key in self.history.finished.replies or any(call.request == key for call in self.history.calls)

    def _nearest(self, request: Request, number: int) -> str:
        """The key of the recorded request in this one's place; the difference between them is drift."""
        label, where = self._place(request, number)
        for call in self.history.calls:
            if (call.role, call.task) == (request.role, request.task) and call.request not in self._used:
                what = of_messages(call, request, self.capture)
                self.differs(where, f"prompt of {label}: {what}")
                return call.request
        if self.was_cut_off(request.task):
            raise self.end_of(request.task)
        self.differs(where, f"prompt of {label}: it is not on record")
        raise ModelError("no reply on record answers this request")

    def _place(self, request: Request, number: int) -> tuple[str, str]:
        """What a request is for, and where in the run it is made."""
        if request.role == "replanner":
            label = f"plan change {self._replans + 1}"
            return label, label
        label = _label(request.role, request.task)
        return label, f"{label}, call {number}"

    def _all_differ(self, where: str, whats: Iterable[str]) -> None:
        for what in whats:
            self.differs(where, what)

    def _compare_listings(self, now: CatalogueTaken) -> None:
        then = self.history.catalogue if now.task is None else self.history.catalogues.get(now.task)
        for kind in ("skill", "tool") if then is not None else ():
            before, after = (self.capture.text(getattr(one, f"{kind}_listing")) for one in (then, now))
            self._all_differ(_of("listing", now.task), of_listings(before, after, kind))

    def _compare_selection(self, now: SkillsSelected) -> None:
        then = self.history.selected if now.task is None else self.history.selections.get(now.task)
        if then is not None:
            names = ([one.name for one in chosen.selections] for chosen in (then, now))
            self._all_differ(_of("selection", now.task), of_names(*names))

    def _compare_change(self, plan: Plan, event: PlanChanged) -> None:
        """Compare what a task grew into; what it had not grown into when the record ended is not a difference."""
        then = plan.parts_of(event.of) if event.of is not None else ()
        if then:
            self._all_differ(f"task {event.of}", of_tasks(then, event.added))

    def _compare_replan(self, event: PlanChanged) -> None:
        """Compare a change that a model made; what a person did is given."""
        changes = self.history.replans.changes
        then = changes[self._changes].event if self._changes < len(changes) else None
        self._changes += 1
        if event.cause == "person":
            return
        self._replans += 1
        if then is not None:
            self._all_differ(f"plan change {self._replans}", of_changes(then, event, self.capture))

    def _compare_skill(self, event: SkillLoaded) -> None:
        then = self.history.loaded.get((event.task, event.name))
        if then is None:
            return
        what = difference(self.capture.text(then), self.capture.text(event.content))
        if what is not None:
            self.differs(f"task {event.task}", f"skill {event.name!r}: its instructions: {what}")

    def _compare_task(self, event: TaskFinished) -> None:
        then = self.history.tasks.get(event.task)
        if then is None or then.status in ("cancelled", "pending") or event.status == "cancelled":
            return
        if then.status != event.status:
            why = f" ({event.error})" if event.error else ""
            self.differs(f"task {event.task}", f"task {event.task!r} was {then.status}, is {event.status}{why}")
        for name in ("output", "error"):
            texts = [self.capture.text(getattr(one, name) or "") for one in (then, event)]
            if then.status == event.status and (what := difference(*texts)) is not None:
                self.differs(f"task {event.task}", f"the {name} of task {event.task!r}: {what}")

    def _compare_end(self, event: RunFinished) -> None:
        end = self.history.ledger.finished
        if end is None or end.status in ("interrupted", "stopped"):
            return
        if end.status != event.status:
            why = event.error or event.question or end.error or end.question
            what = f"the run was {end.status}, is {event.status}"
            self.differs("run", f"{what}; {self._last_prompt()}{f': {why}' if why else ''}")
        texts = [self.capture.text(one.answer or "") for one in (end, event)]
        if event.answer is not None and (what_differs := difference(*texts)) is not None:
            self.differs("answer", f"the answer, {self._last_prompt()}: {what_differs}")

    def _last_prompt(self) -> str:
        """Where the run's end comes from: the planning prompt, the synthesis prompt, or a single task."""
        plan = self.history.plan
        if plan is None or not plan.tasks:
            return "from the prompt of planning"
        return "from the prompt of synthesis" if plan.needs_synthesis else f"from task {plan.finals[0].id!r}"


@dataclass(slots=True)
class ReplayMemo(Memo):
    """Answers tool calls from the tape; only `Skill` is called, to see whether the skill has changed."""

    tape: Tape | None = None

    @classmethod
    def of(cls, tape: Tape, record: Record) -> ReplayMemo:
        """A memo with the recorded tool results and reused outputs; tasks are run again."""
        then = tape.history.finished
        finished = FinishedWork(envelopes=then.envelopes, given=then.given, verdicts=then.verdicts)
        return cls(record, tape.capture, finished=finished, approvals=ReplayApprovals.of(tape, record), tape=tape)

    async def tool(self, tool: Tool, task: str, arguments: Mapping[str, Any]) -> Envelope:
        """The recorded result."""
        assert self.tape is not None  # noqa: S101 - `of` gives it one
        key = self.tool_key(tool.name, task, arguments)
        known = self.finished.envelopes.get(key)
        if known is None:
            wait_for(key, self.approvals)
            if self.tape.was_cut_off(task):
                raise self.tape.end_of(task)
            what = f"task {task!r} calls the tool {tool.name} with arguments that are not on record"
            self.tape.differs(f"task {task}", what)
            return failure("EXECUTION_ERROR", "this call is not on record", Context("", dict(arguments)))
        if tool.name == "Skill" and known.error is None:
            now = await tool.call(arguments)
            what_differs = difference(self.capture.text(known.text), self.capture.text(now.text))
            if what_differs is not None:
                self.tape.differs(f"task {task}", f"skill {arguments.get('name')!r}: its instructions: {what_differs}")
        self.record(ToolCalled(task, tool.name, known.to_dict(), key))
        self.finished.files.note(task, known.to_dict())
        return known


@dataclass(frozen=True, slots=True)
class ReplayModel:
    """A model that answers from the tape."""

    name: str
    tape: Tape
    memo: ReplayMemo

    async def complete(self, request: Request) -> Reply:
        """The recorded reply."""
        names = dict.fromkeys((self.name, *(call.model for call in self.tape.history.calls)))
        hashes = [self.memo.request_hash(request, name) for name in names]
        key, reply = self.tape.answer(request, [self.memo.counted(one) for one in hashes])
        record = self.memo.record
        record(CallStarted(request.role, request.task, self.name, request.messages, request=key))
        record(CallFinished(request.role, request.task, reply.model or self.name, reply, 0.0, key))
        return reply


def reused(history: RunHistory) -> list[TaskReused]:
    """The outputs that the recorded run reused."""
    return [TaskReused(task, output, "record") for task, output in history.finished.given.items()]


def _of(what: str, task: str | None) -> str:
    return what if task is None else f"{what} of task {task!r}"


def _label(role: str, task: str | None) -> str:
    step = {"decomposer": "planning", "checker": "check"}.get(role, role)
    if task is None:
        return step
    return _of(step, task) if role in ("decomposer", "synthesis", "checker") else f"task {task!r}"
