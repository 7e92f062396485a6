"""Compares a replay with a recorded run, event by event; all differences are drift.

A step's decision is compared with the recorded one, which is then used, so that each difference is reported once and
the replay reaches its end. A request gets the recorded reply to the same request. A different request is drift; it gets
the reply that was recorded in its place, and its conversation continues from the recorded messages.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from goalwright_executor.history.difference import (
    difference,
    of_changes,
    of_listings,
    of_messages,
    of_names,
    of_plans,
    of_tasks,
)
from goalwright_executor.results.finished_work import SentMessages
from goalwright_planner.errors import ModelError, RecordEnded
from goalwright_planner.events import (
    CatalogueTaken,
    Event,
    PlanChanged,
    PlanMade,
    PlanRefused,
    RunFinished,
    SkillLoaded,
    SkillsSelected,
    TaskFinished,
)
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_planner.events import AnyEvent, CallStarted
    from goalwright_planner.model import Reply, Request
    from goalwright_planner.plan.plan import Plan

_UNFINISHED = ("interrupted", "stopped", "waiting")
_REPEATED = "; the same in "
# The folder in the first line of a loaded skill; the line itself stays, so that line numbers are kept.
_FOLDER = re.compile(r"(?<=\ABase directory for this skill:)[^\n]*")


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between the record and the replay: where in the run, and what."""

    where: str
    what: str

    def to_dict(self) -> dict[str, str]:
        """The drift as `--json` prints it."""
        return asdict(self)


@dataclass(slots=True)
class Tape:
    """A recorded run for a replay with the current skills, tools and prompts; collects the drift.

    `compares_folders` is False for a replay with other versions of skills, which are in other folders.
    """

    history: RunHistory
    capture: Capture
    compares_folders: bool = True
    drift: list[Drift] = field(default_factory=list)
    sent: SentMessages = field(default_factory=SentMessages)
    _used: set[str] = field(default_factory=set)
    _asked: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    _read: Counter[tuple[str | None, int | None]] = field(default_factory=Counter)
    _prompts: dict[str, tuple[int, int]] = field(default_factory=dict)
    _changes: int = 0
    _replans: int = 0

    def differs(self, where: str, what: str) -> None:
        """Add a difference, once."""
        drift = Drift(where, what)
        if drift not in self.drift:
            self.drift.append(drift)

    def recorded(self, event: AnyEvent) -> AnyEvent:
        """Compare a step's decision with the record; returns the recorded decision, if there is one."""
        recorded: Event = event
        match event:
            case CatalogueTaken():
                recorded = self._compare_listings(event)
            case SkillsSelected():
                recorded = self._compare_selection(event)
            case PlanMade() | PlanRefused():
                recorded = self._compare_reading(event)
            case PlanChanged(cause="replan" | "person"):
                recorded = self._compare_replan(event)
            case PlanChanged() if self.history.plan is not None:
                recorded = self._compare_growth(self.history.plan, event)
            case SkillLoaded():
                recorded = self._compare_skill(event)
            case TaskFinished():
                recorded = self._compare_task(event)
            case RunFinished():
                recorded = self._compare_end(event)
            case _:
                pass
        return recorded  # type: ignore[return-value]  # the same kind of event, or the other reading of a plan

    def answer(self, request: Request, keys: list[str]) -> tuple[str, Reply]:
        """Return the recorded reply and its key; raises the recorded call's error."""
        asker = (request.role, request.task)
        self._asked[asker] += 1
        key = next((key for key in keys if self._has(key)), None)
        if key is None:
            call = self._nearest(request, self._asked[asker])
            self.sent.note(request, call.messages)
            key = call.request
        self._used.add(key)
        reply = self.history.finished.replies.get(key)
        if reply is not None:
            return key, reply
        if key in self.history.calls.failed:
            raise ModelError(self.history.calls.failed[key].error)
        raise self.end_of(request.task)

    def end_of(self, task: str | None) -> GoalwrightError:
        """Return the error for a missing outcome: the recorded task failed otherwise, or the record ends here."""
        recorded = self.history.tasks.get(task or "")
        if recorded is not None and recorded.status == "failed":
            return GoalwrightError(recorded.error or "it failed")
        return RecordEnded("the record ends here")

    def was_cut_off(self, task: str | None) -> bool:
        """Whether the record of a task, or of the run, stops before its end."""
        if task is not None:
            recorded = self.history.tasks.get(task)
            return recorded is None or recorded.status in ("cancelled", "pending", "failed")
        end = self.history.ledger.finished
        return end is None or end.status in _UNFINISHED

    def _has(self, key: str) -> bool:
        return key in self.history.finished.replies or any(call.request == key for call in self.history.calls.started)

    def _nearest(self, request: Request, number: int) -> CallStarted:
        """Return the recorded request in this request's place, and report their difference."""
        label, where = self._place(request, number)
        for call in self.history.calls.started:
            if (call.role, call.task) == (request.role, request.task) and call.request not in self._used:
                self._prompt_differs(where, label, of_messages(call, request, self.capture))
                return call
        if self.was_cut_off(request.task):
            raise self.end_of(request.task)
        self.differs(where, f"prompt of {label}: it is not on record")
        raise ModelError("no reply on record answers this request")

    def _prompt_differs(self, where: str, label: str, change: str) -> None:
        """Add a difference of a prompt; the same change in many prompts is one difference."""
        before = self._prompts.get(change)
        if before is None:
            self._prompts[change] = len(self.drift), 1
            self.drift.append(Drift(where, f"prompt of {label}: {change}"))
            return
        index, count = before
        first, _, _ = self.drift[index].what.partition(_REPEATED)
        self.drift[index] = replace(self.drift[index], what=f"{first}{_REPEATED}{counted(count, 'more prompt')}")
        self._prompts[change] = index, count + 1

    def _place(self, request: Request, number: int) -> tuple[str, str]:
        """Return the purpose of a request, and where in the run it is made."""
        if request.role == "replanner":
            label = f"plan change {self._replans + 1}"
            return label, label
        label = _label(request.role, request.task)
        return label, f"{label}, call {number}"

    def _all_differ(self, where: str, changes: Iterable[str]) -> None:
        for change in changes:
            self.differs(where, change)

    def _compare_listings(self, now: CatalogueTaken) -> CatalogueTaken:
        recorded = self.history.inputs.catalogues.get(now.task)
        if recorded is None:
            return now
        for kind in ("skill", "tool"):
            before, after = (self.capture.text(getattr(taken, f"{kind}_listing")) for taken in (recorded, now))
            self._all_differ(_of("listing", now.task), of_listings(before, after, kind))
        return recorded

    def _compare_selection(self, now: SkillsSelected) -> SkillsSelected:
        recorded = self.history.inputs.selections.get(now.task)
        if recorded is None:
            return now
        names = ([selection.name for selection in chosen.selections] for chosen in (recorded, now))
        causes = []
        if recorded.encoder != now.encoder:
            causes.append(f"encoder {recorded.encoder or 'none'} → {now.encoder or 'none'}")
        if recorded.unindexed != now.unindexed:
            causes.append(f"skills not indexed yet: {recorded.unindexed:,} → {now.unindexed:,}")
        because = f" ({'; '.join(causes)})" if causes else ""
        self._all_differ(_of("selection", now.task), (f"{change}{because}" for change in of_names(*names)))
        return recorded

    def _compare_reading(self, now: PlanMade | PlanRefused) -> PlanMade | PlanRefused:
        """Compare how a planner's answer was read: as a plan, or refused."""
        key = (None, None) if isinstance(now, PlanMade) else (now.task, now.change)
        readings = self.history.plans.readings.get(key, [])
        number = self._read[key]
        self._read[key] += 1
        recorded = readings[number] if number < len(readings) else None
        if recorded is None:  # a resume requested the plan again, or the record ends here
            recorded = self.history.plans.last if isinstance(now, PlanMade) else None
        where, label = _reading_place(*key)
        match recorded, now:
            case PlanMade(), PlanMade():
                self._all_differ(where, of_plans(recorded.plan, now.plan))
            case PlanRefused(), PlanRefused():
                faults = ("\n".join(map(self.capture.text, refused.faults)) for refused in (recorded, now))
                if (change := difference(*faults)) is not None:
                    self.differs(where, f"{label}: why answer {now.attempt} was refused: {change}")
            case PlanRefused(), PlanMade():
                self.differs(where, f"{label}: answer {recorded.attempt} was refused, and is accepted now")
            case PlanMade(), PlanRefused():
                self.differs(
                    where, f"{label}: answer {now.attempt} was accepted, and is refused now: {'; '.join(now.faults)}"
                )
        return now if recorded is None else recorded

    def _compare_growth(self, plan: Plan, now: PlanChanged) -> PlanChanged:
        """Compare the parts of a task; parts that the record does not have yet are no difference."""
        recorded = plan.parts_of(now.of) if now.of is not None else ()
        if now.cause == "repeat":  # each round is a separate change
            recorded = tuple(plan.task(part.id) for part in now.added if part.id in plan)
        differences = list(of_tasks(recorded, now.added)) if recorded else []
        self._all_differ(f"task {now.of}", differences)
        return msgspec.structs.replace(now, added=recorded) if differences else now

    def _compare_replan(self, now: PlanChanged) -> PlanChanged:
        """Compare a change by a model; a person's change is taken from the record."""
        changes = self.history.replans.changes
        recorded = changes[self._changes].event if self._changes < len(changes) else None
        self._changes += 1
        if now.cause == "person":
            return now
        self._replans += 1
        if recorded is None:
            return now
        self._all_differ(f"plan change {self._replans}", of_changes(recorded, now, self.capture))
        return recorded

    def _compare_skill(self, now: SkillLoaded) -> SkillLoaded:
        recorded = self.history.inputs.skills.get((now.task, now.name))
        if recorded is None:
            return now
        texts = [self.capture.text(content) for content in (recorded, now.content)]
        if not self.compares_folders:
            texts = [_FOLDER.sub("", text) for text in texts]
        if (change := difference(*texts)) is not None:
            self.differs(f"task {now.task}", f"skill {now.name!r}: its instructions: {change}")
        return msgspec.structs.replace(now, content=recorded)

    def _compare_task(self, now: TaskFinished) -> TaskFinished:
        recorded = self.history.tasks.get(now.task)
        if recorded is None or recorded.status in ("cancelled", "pending") or now.status == "cancelled":
            return now
        if recorded.status != now.status:
            why = f" ({now.error})" if now.error else ""
            self.differs(f"task {now.task}", f"task {now.task!r} was {recorded.status}, is {now.status}{why}")
            return recorded
        for name in ("output", "error"):
            texts = [self.capture.text(getattr(end, name) or "") for end in (recorded, now)]
            if (change := difference(*texts)) is not None:
                self.differs(f"task {now.task}", f"the {name} of task {now.task!r}: {change}")
        return recorded

    def _compare_end(self, now: RunFinished) -> RunFinished:
        """Compare the end of the run; a replay that ended otherwise has no answer."""
        recorded = self.history.ledger.finished
        if recorded is None or recorded.status in ("interrupted", "stopped"):
            return now
        if recorded.status != now.status:
            why = now.error or now.question or recorded.error or recorded.question
            statuses = f"the run was {recorded.status}, is {now.status}"
            self.differs("run", f"{statuses}; {self._last_prompt()}{f': {why}' if why else ''}")
            return now
        for name in ("answer", "error"):
            texts = [self.capture.text(getattr(end, name) or "") for end in (recorded, now)]
            if (change := difference(*texts)) is not None:
                self.differs(name if name == "answer" else "run", f"the {name}, {self._last_prompt()}: {change}")
        return recorded

    def _last_prompt(self) -> str:
        """Return the origin of the run's end: the planning prompt, the synthesis prompt, or its tasks."""
        plan = self.history.plan
        if plan is None or not plan.tasks:
            return "from the prompt of planning"
        if plan.needs_synthesis:
            return "from the prompt of synthesis"
        return f"from task {plan.answering.id!r}" if plan.answering else "from the results of its final tasks"


def _reading_place(task: str | None, change: int | None) -> tuple[str, str]:
    """Return where a planner's answer is read, and its prompt."""
    where = f"plan change {change}" if change is not None else _of("plan", task)
    return where, f"prompt of {where if change is not None else _of('planning', task)}"


def _of(name: str, task: str | None) -> str:
    return name if task is None else f"{name} of task {task!r}"


def _label(role: str, task: str | None) -> str:
    step = {"decomposer": "planning", "checker": "check"}.get(role, role)
    if task is None:
        return step
    return _of(step, task) if role in ("decomposer", "synthesis", "checker") else f"task {task!r}"
