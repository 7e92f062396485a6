"""A change of a plan at rest: ask the model, judge its answer, ask again with all faults, at most three times."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose import required
from goalwright_planner.decompose.brief import ATTEMPTS, asks_for_rounds
from goalwright_planner.decompose.prompt import CUT_OFF, again, below, variables_of
from goalwright_planner.events import PlanRefused, PromptMade, Warned
from goalwright_planner.model import Message, Request
from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.change import Change
from goalwright_planner.reading.change_answer import ChangeReading, change_schema, read_change
from goalwright_planner.reading.plan_answer import summary

if TYPE_CHECKING:
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.model import Model, Reply
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.prompting.prompts import Prompts


@dataclass(frozen=True, slots=True)
class TaskState:
    """The status of a task, with its error or the beginning of its output."""

    id: str
    status: str
    text: str = ""

    @property
    def has_begun(self) -> bool:
        """Whether it can no longer be changed."""
        return self.status not in ("pending", "skipped")


@dataclass(frozen=True, slots=True)
class Situation:
    """A plan at rest, without its grown tasks, and the reasons to change it.

    This is change `number`; `left` more may follow. `budget` says how much may be spent, if that is limited.
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
    """The outcome of an attempt to change a plan: a change, or the reason why there is none."""

    change: Change | None
    note: str = ""
    given_up: bool = False


def variables(brief: Brief, situation: Situation) -> dict[str, Any]:
    """The variables of the replanner's template."""
    return {
        "goal": brief.goal,
        "tasks": [json.dumps(task.to_dict(), ensure_ascii=False) for task in situation.plan.tasks],
        "synthesis": situation.plan.synthesis,
        "states": [{"id": state.id, "status": state.status, "text": state.text} for state in situation.states],
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
    """Whether the prompt explains rounds: the goal or a reason asks for them, or the plan has some."""
    return (
        brief.repeats
        or any(task.repeat for task in situation.plan.tasks)
        or any(map(asks_for_rounds, situation.reasons))
    )


async def replan(brief: Brief, situation: Situation, model: Model, prompts: Prompts, record: Recorder) -> Replanned:
    """Return a valid change of the plan, or the reason why there is none.

    The system message has the same bytes as the decomposer's, for the provider's cache.
    """
    prompt_variables = variables(brief, situation)
    record(PromptMade("replanner", None, prompt_variables))
    system = prompts.render(brief.profile.agent("decomposer"), "system", variables_of(brief))
    user = below(brief.earlier, prompts.render("replanner", "user", prompt_variables))
    request = Request(
        (Message("system", system), Message("user", user)),
        schema=change_schema(unused=bool(brief.must_use), repeats=prompt_variables["repeats"]),
        role="replanner",
        about=[situation.number, [[state.id, state.status] for state in situation.states]],
    )
    faults: tuple[str, ...] = ()
    judge = _ChangeJudge(brief, situation)
    for attempt in range(1, ATTEMPTS + 1):
        reply = await model.complete(request)
        reading = judge.read(reply, attempt)
        if not reading.faults:
            if reading.repairs:
                record(Warned(f"the change of the plan was repaired: {summary(reading.repairs)}"))
            if reading.give_up:
                return Replanned(None, f"given up: {reading.give_up}", given_up=True)
            return Replanned(reading.change, "; ".join(situation.reasons))
        faults = record(PlanRefused(attempt, reading.faults, change=situation.number)).faults
        correction = prompts.render("replanner", "again", {"faults": faults})
        request = replace(request, messages=(*request.messages, *again(reply, correction)))
    return Replanned(None, f"no valid change in {ATTEMPTS} answers; the last one's faults: {'; '.join(faults)}")


@dataclass(slots=True)
class _ChangeJudge:
    """Reads the successive answers to one request for a change.

    A change that drops a required skill is refused each time. A change that only drops a skill which was selected with
    certainty is refused once, and kept: it counts if no later change is valid.
    """

    brief: Brief
    situation: Situation
    _asked: bool = False
    _kept: ChangeReading | None = None

    def read(self, reply: Reply, attempt: int) -> ChangeReading:
        """Return the change in a reply, and all its faults."""
        reading = self._with_required(self._reading(reply))
        if reading.faults and self._kept is not None and attempt == ATTEMPTS:
            return self._kept
        dropped = () if reading.give_up else self._dropped(reading.change)
        if not dropped or (not reading.faults and (self._asked or attempt == ATTEMPTS)):
            return reading
        self._asked = True
        self._kept = self._kept if reading.faults else reading
        return replace(reading, faults=(*reading.faults, *map(self.brief.profile.shape.left_out, dropped)))

    def _reading(self, reply: Reply) -> ChangeReading:
        if reply.cut_off:
            return ChangeReading(Change(), faults=(CUT_OFF.format("change"),))
        return read_change(reply.text, self.situation.plan, self.situation.begun, self.brief.judged_by)

    def _with_required(self, reading: ChangeReading) -> ChangeReading:
        """Return the change, with a fault for each required skill that it drops."""
        if reading.give_up or not self.brief.required:
            return reading
        plan = self.situation.plan
        lost = required.lost(plan, reading.change.applied(plan), self.brief.required)
        return replace(reading, faults=(*reading.faults, *(skill.fault for skill in lost)))

    def _dropped(self, change: Change) -> tuple[str, ...]:
        """The skills selected with certainty that the plan used, and that it drops without a reason."""
        plan = self.situation.plan
        certain = [name for name in self.brief.must_use if name not in self.brief.required]
        used = [name for name in certain if unused_skills.used_in(plan.tasks, name)]
        return unused_skills.left_out(change.applied(plan).to_dict(), used)
