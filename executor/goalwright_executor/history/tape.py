"""A recorded run that is compared with one of today, event by event; whatever differs is drift.

What a step decides is compared with what it decided then, and the recorded decision is used, so that one difference is
told once and the replay reaches its end. A request is answered by the recorded reply to the same request. A request
that differs is drift too: it is answered by the reply that was given in its place, and its conversation goes on from
the recorded messages.
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
from goalwright_executor.results.sent_messages import SentMessages
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
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_planner.events import AnyEvent, CallStarted
    from goalwright_planner.model import Reply, Request
    from goalwright_planner.plan.plan import Plan

_UNFINISHED = ("interrupted", "stopped", "waiting")
_ALSO = "; the same in "
# How a loaded skill begins; the line itself stays, so that those below keep their numbers.
_FOLDER = re.compile(r"(?<=\ABase directory for this skill:)[^\n]*")


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
    """A recorded run that is played back against today's skills, tools and prompts; collects the drift.

    For other versions of skills, which lie in folders of their own, `compares_folders` is off: only their text counts.
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
        """Compare what a step decided with the record; returns what was decided then, if it is on record."""
        recorded: Event = event
        match event:
            case CatalogueTaken():
                recorded = self._listings(event)
            case SkillsSelected():
                recorded = self._selection(event)
            case PlanMade() | PlanRefused():
                recorded = self._reading(event)
            case PlanChanged(cause="replan" | "person"):
                recorded = self._replan(event)
            case PlanChanged() if self.history.plan is not None:
                recorded = self._growth(self.history.plan, event)
            case SkillLoaded():
                recorded = self._skill(event)
            case TaskFinished():
                recorded = self._task(event)
            case RunFinished():
                recorded = self._end(event)
            case _:
                pass
        return recorded  # type: ignore[return-value]  # the same kind of event, or the other reading of a plan

    def answer(self, request: Request, keys: list[str]) -> tuple[str, Reply]:
        """The recorded reply and its key; raises what the recorded call raised."""
        place = (request.role, request.task)
        self._asked[place] += 1
        key = next((key for key in keys if self._knows(key)), None)
        if key is None:
            call = self._nearest(request, self._asked[place])
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
        """Why there is no recorded outcome: the task failed for another reason, or the record ends here."""
        recorded = self.history.tasks.get(task or "")
        if recorded is not None and recorded.status == "failed":
            return GoalwrightError(recorded.error or "it failed")
        return RecordEnded("the record ends here")

    def was_cut_off(self, task: str | None) -> bool:
        """Whether the record of a task, or of the run, stops before it ended."""
        if task is not None:
            recorded = self.history.tasks.get(task)
            return recorded is None or recorded.status in ("cancelled", "pending", "failed")
        end = self.history.ledger.finished
        return end is None or end.status in _UNFINISHED

    def _knows(self, key: str) -> bool:
        return key in self.history.finished.replies or any(call.request == key for call in self.history.calls.started)

    def _nearest(self, request: Request, number: int) -> CallStarted:
        """The recorded request in this one's place; the difference between them is drift."""
        label, where = self._place(request, number)
        for call in self.history.calls.started:
            if (call.role, call.task) == (request.role, request.task) and call.request not in self._used:
                self._prompt_differs(where, label, of_messages(call, request, self.capture))
                return call
        if self.was_cut_off(request.task):
            raise self.end_of(request.task)
        self.differs(where, f"prompt of {label}: it is not on record")
        raise ModelError("no reply on record answers this request")

    def _prompt_differs(self, where: str, label: str, what: str) -> None:
        """Add a difference of a prompt; words that changed in many prompts are one difference."""
        before = self._prompts.get(what)
        if before is None:
            self._prompts[what] = len(self.drift), 1
            self.drift.append(Drift(where, f"prompt of {label}: {what}"))
            return
        at, count = before
        first, _, _ = self.drift[at].what.partition(_ALSO)
        self.drift[at] = replace(self.drift[at], what=f"{first}{_ALSO}{counted(count, 'more prompt')}")
        self._prompts[what] = at, count + 1

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

    def _listings(self, now: CatalogueTaken) -> CatalogueTaken:
        recorded = self.history.inputs.catalogues.get(now.task)
        if recorded is None:
            return now
        for kind in ("skill", "tool"):
            before, after = (self.capture.text(getattr(taken, f"{kind}_listing")) for taken in (recorded, now))
            self._all_differ(_of("listing", now.task), of_listings(before, after, kind))
        return recorded

    def _selection(self, now: SkillsSelected) -> SkillsSelected:
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
        self._all_differ(_of("selection", now.task), (f"{what}{because}" for what in of_names(*names)))
        return recorded

    def _reading(self, now: PlanMade | PlanRefused) -> PlanMade | PlanRefused:
        """How a planner's answer was read: as a plan, or refused."""
        place = (None, None) if isinstance(now, PlanMade) else (now.task, now.change)
        readings = self.history.plans.readings.get(place, [])
        number = self._read[place]
        self._read[place] += 1
        recorded = readings[number] if number < len(readings) else None
        if recorded is None:  # a plan that was asked for again by a resume, or the record ends here
            recorded = self.history.plans.last if isinstance(now, PlanMade) else None
        where, label = _reading_place(*place)
        match recorded, now:
            case PlanMade(), PlanMade():
                self._all_differ(where, of_plans(recorded.plan, now.plan))
            case PlanRefused(), PlanRefused():
                faults = ("\n".join(self.capture.text(fault) for fault in one.faults) for one in (recorded, now))
                if (what := difference(*faults)) is not None:
                    self.differs(where, f"{label}: why answer {now.attempt} was refused: {what}")
            case PlanRefused(), PlanMade():
                self.differs(where, f"{label}: answer {recorded.attempt} was refused, and is accepted now")
            case PlanMade(), PlanRefused():
                self.differs(
                    where, f"{label}: answer {now.attempt} was accepted, and is refused now: {'; '.join(now.faults)}"
                )
        return now if recorded is None else recorded

    def _growth(self, plan: Plan, now: PlanChanged) -> PlanChanged:
        """What a task grew into; what it had not grown into when the record ended is not a difference."""
        recorded = plan.parts_of(now.of) if now.of is not None else ()
        if now.cause == "repeat":  # each round is a change of its own
            recorded = tuple(plan.task(part.id) for part in now.added if part.id in plan)
        differences = list(of_tasks(recorded, now.added)) if recorded else []
        self._all_differ(f"task {now.of}", differences)
        return msgspec.structs.replace(now, added=recorded) if differences else now

    def _replan(self, now: PlanChanged) -> PlanChanged:
        """A change that a model made; what a person did is given."""
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

    def _skill(self, now: SkillLoaded) -> SkillLoaded:
        recorded = self.history.inputs.skills.get((now.task, now.name))
        if recorded is None:
            return now
        texts = [self.capture.text(content) for content in (recorded, now.content)]
        if not self.compares_folders:
            texts = [_FOLDER.sub("", text) for text in texts]
        if (what := difference(*texts)) is not None:
            self.differs(f"task {now.task}", f"skill {now.name!r}: its instructions: {what}")
        return msgspec.structs.replace(now, content=recorded)

    def _task(self, now: TaskFinished) -> TaskFinished:
        recorded = self.history.tasks.get(now.task)
        if recorded is None or recorded.status in ("cancelled", "pending") or now.status == "cancelled":
            return now
        if recorded.status != now.status:
            why = f" ({now.error})" if now.error else ""
            self.differs(f"task {now.task}", f"task {now.task!r} was {recorded.status}, is {now.status}{why}")
            return recorded
        for name in ("output", "error"):
            texts = [self.capture.text(getattr(end, name) or "") for end in (recorded, now)]
            if (what := difference(*texts)) is not None:
                self.differs(f"task {now.task}", f"the {name} of task {now.task!r}: {what}")
        return recorded

    def _end(self, now: RunFinished) -> RunFinished:
        """How the run ended; one that did not come to its answer this time has none."""
        recorded = self.history.ledger.finished
        if recorded is None or recorded.status in ("interrupted", "stopped"):
            return now
        if recorded.status != now.status:
            why = now.error or now.question or recorded.error or recorded.question
            what = f"the run was {recorded.status}, is {now.status}"
            self.differs("run", f"{what}; {self._last_prompt()}{f': {why}' if why else ''}")
            return now
        for name in ("answer", "error"):
            texts = [self.capture.text(getattr(end, name) or "") for end in (recorded, now)]
            if (what_differs := difference(*texts)) is not None:
                self.differs(name if name == "answer" else "run", f"the {name}, {self._last_prompt()}: {what_differs}")
        return recorded

    def _last_prompt(self) -> str:
        """Where the run's end comes from: the planning prompt, the synthesis prompt, or its tasks."""
        plan = self.history.plan
        if plan is None or not plan.tasks:
            return "from the prompt of planning"
        if plan.needs_synthesis:
            return "from the prompt of synthesis"
        return f"from task {plan.answering.id!r}" if plan.answering else "from the results of its final tasks"


def _reading_place(task: str | None, change: int | None) -> tuple[str, str]:
    """Where an answer of a planner is read, and to which prompt it is the answer."""
    where = f"plan change {change}" if change is not None else _of("plan", task)
    return where, f"prompt of {where if change is not None else _of('planning', task)}"


def _of(what: str, task: str | None) -> str:
    return what if task is None else f"{what} of task {task!r}"


def _label(role: str, task: str | None) -> str:
    step = {"decomposer": "planning", "checker": "check"}.get(role, role)
    if task is None:
        return step
    return _of(step, task) if role in ("decomposer", "synthesis", "checker") else f"task {task!r}"
