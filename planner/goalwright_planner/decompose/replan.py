"""A change of a plan at rest: ask the model, check its answer, ask again with all faults, three times in all."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose import required
from goalwright_planner.decompose.brief import ATTEMPTS, asks_for_rounds, variables_of
from goalwright_planner.decompose.decompose import below
from goalwright_planner.events import PlanRefused, PromptMade, Warned
from goalwright_planner.model import Message, Request
from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.changes.change import Change
from goalwright_planner.reading.change_answer import ChangeReading, change_schema, read_change
from goalwright_planner.reading.plan_answer import summary

if TYPE_CHECKING:
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.model import Model, Reply
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.prompting.prompts import Prompts

_CUT_OFF = "the answer was cut off at the model's output limit; give a shorter change with fewer words"


@dataclass(frozen=True, slots=True)
class TaskState:
    """How far a task is: its status, and its error or the beginning of its output."""

    id: str
    status: str
    text: str = ""

    @property
    def has_begun(self) -> bool:
        """Whether it can no longer be changed."""
        return self.status not in ("pending", "skipped")


@dataclass(frozen=True, slots=True)
class Situation:
    """A plan at rest, without its grown tasks, and why it is to be changed.

    This is change `number`; `left` more may follow it, and `budget` says what may still be spent, if that is limited.
    """

    plan: Plan
    states: tuple[TaskState, ...]
    reasons: tuple[str, ...]
    number: int
    left: int = 0
    budget: str = ""

    @property
    def begun(self) -> dict[str, str]:
        """The status of each task that has begun."""
        return {state.id: state.status for state in self.states if state.has_begun}

    @property
    def free(self) -> tuple[str, ...]:
        """The ids of the tasks that may still be changed."""
        return tuple(state.id for state in self.states if not state.has_begun)


@dataclass(frozen=True, slots=True)
class Replanned:
    """What came of an attempt to change a plan: a change, or why there is none."""

    change: Change | None
    note: str = ""
    given_up: bool = False


def variables(brief: Brief, situation: Situation) -> dict[str, Any]:
    """The variables of the replanner's template."""
    tasks = [_json(task.to_dict()) for task in situation.plan.tasks]
    return {
        "goal": brief.goal,
        "tasks": tasks,
        "synthesis": situation.plan.synthesis,
        "states": [{"id": one.id, "status": one.status, "text": one.text} for one in situation.states],
        "reasons": situation.reasons,
        "free": situation.free,
        "number": situation.number,
        "left": situation.left,
        "budget": situation.budget,
        "files": brief.files,
        "answers": brief.answers,
        "repeats": _repeats(brief, situation),
        "sub_goals": brief.sub_goals,
    }


def _repeats(brief: Brief, situation: Situation) -> bool:
    """Whether the model is told of rounds: where the goal or a reason asks for them, or the plan has some."""
    return (
        brief.repeats
        or any(task.repeat for task in situation.plan.tasks)
        or any(map(asks_for_rounds, situation.reasons))
    )


async def replan(brief: Brief, situation: Situation, model: Model, prompts: Prompts, record: Recorder) -> Replanned:
    """A valid change of the plan, or why there is none; the system message is the decomposer's, to the byte."""
    given = variables(brief, situation)
    record(PromptMade("replanner", None, given))
    agent = brief.profile.agent("decomposer")
    conversation: tuple[Message, ...] = (
        Message("system", prompts.render(agent, "system", variables_of(brief))),
        Message("user", below(brief.earlier, prompts.render("replanner", "user", given))),
    )
    about = [situation.number, [[state.id, state.status] for state in situation.states]]
    faults: tuple[str, ...] = ()
    schema = change_schema(unused=bool(brief.must_use), repeats=given["repeats"])
    judge = _ChangeJudge(brief, situation)
    for attempt in range(1, ATTEMPTS + 1):
        reply = await model.complete(Request(conversation, schema=schema, role="replanner", about=about))
        reading = judge.read(reply, attempt)
        if not reading.faults:
            if reading.repairs:
                record(Warned(f"the change of the plan was repaired: {summary(reading.repairs)}"))
            if reading.give_up:
                return Replanned(None, f"given up: {reading.give_up}", given_up=True)
            return Replanned(reading.change, "; ".join(situation.reasons))
        faults = record(PlanRefused(attempt, reading.faults, change=situation.number)).faults
        conversation += (
            Message("assistant", reply.text or "(an empty answer)"),
            Message("user", prompts.render("replanner", "again", {"faults": faults})),
        )
    return Replanned(None, f"no valid change in {ATTEMPTS} answers; the last one's faults: {'; '.join(faults)}")


@dataclass(slots=True)
class _ChangeJudge:
    """Reads the answers to one request for a change, in turn.

    A change that drops a skill which the user requires is refused each time. One that only drops a skill which was
    selected with certainty is asked for again once, and kept: it counts if no later one can be made.
    """

    brief: Brief
    situation: Situation
    _asked: bool = False
    _kept: ChangeReading | None = None

    def read(self, reply: Reply, attempt: int) -> ChangeReading:
        """The change in a reply, and all its faults."""
        reading = self._with_required(self._reading(reply))
        if reading.faults and self._kept is not None and attempt == ATTEMPTS:
            return self._kept
        missing = () if reading.give_up else self._dropped(reading.change)
        if not missing or (not reading.faults and (self._asked or attempt == ATTEMPTS)):
            return reading
        self._asked = True
        self._kept = self._kept if reading.faults else reading
        return replace(reading, faults=(*reading.faults, *map(self.brief.profile.shape.left_out, missing)))

    def _with_required(self, reading: ChangeReading) -> ChangeReading:
        """The change, with a fault for each skill that the user requires and that it drops."""
        if reading.give_up or not self.brief.required:
            return reading
        plan = self.situation.plan
        after = reading.change.applied(plan)
        dropped = required.faults(after.to_dict(), required.lost(plan, after, self.brief.required))
        return replace(reading, faults=(*reading.faults, *dropped.values())) if dropped else reading

    def _reading(self, reply: Reply) -> ChangeReading:
        if reply.cut_off:
            return ChangeReading(Change(), faults=(_CUT_OFF,))
        return read_change(reply.text, self.situation.plan, self.situation.begun, self.brief.judged_by)

    def _dropped(self, change: Change) -> tuple[str, ...]:
        """The skills that must be used, and that no task uses any more, without a reason."""
        plan = self.situation.plan
        others = [name for name in self.brief.must_use if name not in self.brief.required]
        used = [name for name in others if unused_skills.used_in(plan.tasks, name)]
        return unused_skills.left_out(change.applied(plan).to_dict(), used)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)
