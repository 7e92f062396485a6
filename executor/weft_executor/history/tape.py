"""A recorded run that is compared with one of today, event by event; whatever differs is drift.

A request is answered by the recorded reply to the same request. A request that differs is drift; it is then answered by
the reply that was given in its place, so that the replay continues and finds every difference.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from weft_executor.history.difference import (
    difference,
    of_changes,
    of_listings,
    of_messages,
    of_names,
    of_plans,
    of_tasks,
)
from weft_planner.errors import ModelError, RecordEnded
from weft_planner.events import (
    CatalogueTaken,
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    SkillLoaded,
    SkillsSelected,
    TaskFinished,
)
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft_executor.capture.capture import Capture
    from weft_executor.history.run_history import RunHistory
    from weft_planner.model import Reply, Request
    from weft_planner.plan.plan import Plan

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
        drift = Drift(where, what)
        if drift not in self.drift:
            self.drift.append(drift)

    def note(self, event: Event) -> None:
        """Compare an event of the replay with the record."""
        history = self.history
        match event:
            case CatalogueTaken():
                self._compare_listings(event)
            case SkillsSelected():
                self._compare_selection(event)
            case PlanMade() if history.planned is not None:
                recorded = history.plans[self._planned] if self._planned < len(history.plans) else history.planned
                self._planned += 1
                self._all_differ("plan", of_plans(recorded.plan, event.plan))
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
        recorded = self.history.tasks.get(task or "")
        if recorded is not None and recorded.status == "failed":
            return WeftError(recorded.error or "it failed")
        return RecordEnded("the record ends here")

    def was_cut_off(self, task: str | None) -> bool:
        """Whether the record of a task, or of the run, stops before it ended."""
        if task is not None:
            recorded = self.history.tasks.get(task)
            return recorded is None or recorded.status in ("cancelled", "pending", "failed")
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
        recorded = self.history.catalogue if now.task is None else self.history.catalogues.get(now.task)
        for kind in ("skill", "tool") if recorded is not None else ():
            before, after = (self.capture.text(getattr(taken, f"{kind}_listing")) for taken in (recorded, now))
            self._all_differ(_of("listing", now.task), of_listings(before, after, kind))

    def _compare_selection(self, now: SkillsSelected) -> None:
        recorded = self.history.selected if now.task is None else self.history.selections.get(now.task)
        if recorded is not None:
            names = ([selection.name for selection in chosen.selections] for chosen in (recorded, now))
            self._all_differ(_of("selection", now.task), of_names(*names))

    def _compare_change(self, plan: Plan, event: PlanChanged) -> None:
        """Compare what a task grew into; what it had not grown into when the record ended is no difference."""
        recorded = plan.parts_of(event.of) if event.of is not None else ()
        if recorded:
            self._all_differ(f"task {event.of}", of_tasks(recorded, event.added))

    def _compare_replan(self, event: PlanChanged) -> None:
        """Compare a change that a model made; what a person did is given."""
        changes = self.history.replans.changes
        recorded = changes[self._changes].event if self._changes < len(changes) else None
        self._changes += 1
        if event.cause == "person":
            return
        self._replans += 1
        if recorded is not None:
            self._all_differ(f"plan change {self._replans}", of_changes(recorded, event, self.capture))

    def _compare_skill(self, event: SkillLoaded) -> None:
        recorded = self.history.loaded.get((event.task, event.name))
        if recorded is None:
            return
        what = difference(self.capture.text(recorded), self.capture.text(event.content))
        if what is not None:
            self.differs(f"task {event.task}", f"skill {event.name!r}: its instructions: {what}")

    def _compare_task(self, event: TaskFinished) -> None:
        recorded = self.history.tasks.get(event.task)
        if recorded is None or recorded.status in ("cancelled", "pending") or event.status == "cancelled":
            return
        if recorded.status != event.status:
            why = f" ({event.error})" if event.error else ""
            self.differs(f"task {event.task}", f"task {event.task!r} was {recorded.status}, is {event.status}{why}")
        for name in ("output", "error"):
            texts = [self.capture.text(getattr(end, name) or "") for end in (recorded, event)]
            if recorded.status == event.status and (what := difference(*texts)) is not None:
                self.differs(f"task {event.task}", f"the {name} of task {event.task!r}: {what}")

    def _compare_end(self, event: RunFinished) -> None:
        end = self.history.ledger.finished
        if end is None or end.status in ("interrupted", "stopped"):
            return
        if end.status != event.status:
            why = event.error or event.question or end.error or end.question
            what = f"the run was {end.status}, is {event.status}"
            self.differs("run", f"{what}; {self._last_prompt()}{f': {why}' if why else ''}")
        texts = [self.capture.text(finished.answer or "") for finished in (end, event)]
        if event.answer is not None and (what_differs := difference(*texts)) is not None:
            self.differs("answer", f"the answer, {self._last_prompt()}: {what_differs}")

    def _last_prompt(self) -> str:
        """Where the run's end comes from: the planning prompt, the synthesis prompt, or a single task."""
        plan = self.history.plan
        if plan is None or not plan.tasks:
            return "from the prompt of planning"
        return "from the prompt of synthesis" if plan.needs_synthesis else f"from task {plan.finals[0].id!r}"


def _of(what: str, task: str | None) -> str:
    return what if task is None else f"{what} of task {task!r}"


def _label(role: str, task: str | None) -> str:
    step = {"decomposer": "planning", "checker": "check"}.get(role, role)
    if task is None:
        return step
    return _of(step, task) if role in ("decomposer", "synthesis", "checker") else f"task {task!r}"
