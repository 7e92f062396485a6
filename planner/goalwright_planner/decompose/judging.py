"""Judges a planner's answers: a plan, or why it is refused.

A plan that only leaves out skills which were selected with certainty is asked for again once, and never lost for it;
one that leaves out a skill which the user requires is refused each time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from goalwright_planner.decompose import required
from goalwright_planner.events import PlanMade, PlanRefused
from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.unused_skills import left_out
from goalwright_planner.reading.plan_answer import Reading, read_answer
from goalwright_planner.small_models.completion import completed, with_skills
from goalwright_planner.small_models.rules import joined

if TYPE_CHECKING:
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.model import Reply

_CUT_OFF = "the answer was cut off at the model's output limit; give a shorter plan with fewer words"


class EarlyStart(Protocol):
    """Starts tasks of a plan while it is being written."""

    def hear(self, text: str) -> None:
        """Take the next piece of the plan; an empty one begins it again."""

    def could_begin(self, text: str) -> tuple[str, ...]:
        """The ids of the tasks of a whole answer that could have started early."""

    async def settle(self, plan: Plan) -> None:
        """Keep of what began what stands in the plan that was accepted, and stop the rest."""


@dataclass(slots=True)
class PlanJudge:
    """Judges the answers to one brief in turn.

    A valid plan that leaves out skills which must be used is asked for again once. It is kept: it counts if no later
    one can run, or if the next one would lose tasks of it that have begun.
    """

    brief: Brief
    early: EarlyStart | None = None
    _asked: bool = False
    _kept: PlanMade | None = None
    _begun: tuple[str, ...] = ()

    async def verdict(self, reply: Reply, attempt: int) -> PlanMade | PlanRefused:
        """The plan in a reply, with what it lost of the goal if such a model loses any; or why it is refused."""
        brief, last = self.brief, attempt == self.brief.attempts
        reading = _read(reply, brief)
        if reading.faults:
            if self._kept is not None and last:
                return self._first(attempt, f"answer {attempt} cannot run")
            return self._refused(attempt, reading.faults, reading.document, again=True)
        made = await self._with_required(await self._made(reading, attempt))
        document = made.plan.to_dict()
        if required.unused(made.plan, brief.required):
            return self._refused(attempt, (), document, again=not self._asked and not last)
        missing = left_out(document, brief.must_use)
        if missing and not self._asked and not last:
            self._kept = made
            self._begun = self.early.could_begin(reply.text) if self.early is not None and attempt == 1 else ()
            return self._refused(attempt, (), document, again=True)
        if self._kept is not None and not made.plan.tasks:
            return self._first(attempt, f"answer {attempt} is a question")
        if self._kept is not None and self._loses_begun(made.plan):
            return self._first(attempt, f"answer {attempt} changes tasks that have begun")
        if missing and brief.profile.whole_goal:
            plan, back = await asyncio.to_thread(with_skills, made.plan, brief.wanted, missing)
            return PlanMade(plan, attempt, (*made.repairs, *back))
        return made

    def _refused(self, attempt: int, faults: tuple[str, ...], document: Any, *, again: bool) -> PlanRefused:
        """Why a plan is refused: its faults, the required skills that it leaves out, and others if asked `again`."""
        brief = self.brief
        lost = required.left_out(document, brief.required)
        others = [name for name in brief.must_use if name not in brief.required] if again else ()
        missing = left_out(document, others)
        self._asked = self._asked or bool(lost or missing)
        told = (*required.faults(document, lost).values(), *map(brief.profile.shape.left_out, missing))
        return PlanRefused(attempt, (*faults, *told), task=brief.task)

    def _first(self, attempt: int, why: str) -> PlanMade:
        """The plan that was kept."""
        assert self._kept is not None  # noqa: S101 - the caller checked it
        said = f"{why}, so the plan of answer {self._kept.attempts} counts"
        return replace(self._kept, attempts=attempt, repairs=(*self._kept.repairs, said))

    def _loses_begun(self, plan: Plan) -> bool:
        assert self._kept is not None  # noqa: S101 - the caller checked it
        before = self._kept.plan
        return any(task not in plan or plan.task(task) != before.task(task) for task in self._begun)

    async def _with_required(self, made: PlanMade) -> PlanMade:
        """The plan, with the skills that the user requires put back where a small model left them out again."""
        lost = required.unused(made.plan, self.brief.required) if self._asked else []
        if not lost or not self.brief.profile.whole_goal:
            return made
        plan, back = await asyncio.to_thread(with_skills, made.plan, self.brief.wanted, lost)
        return replace(made, plan=plan, repairs=(*made.repairs, *back))

    async def _made(self, reading: Reading, attempt: int) -> PlanMade:
        plan, repairs = Plan.from_dict(reading.document), reading.repairs
        if self.brief.profile.whole_goal and not self._may_be_brief(plan):
            plan, back = await asyncio.to_thread(completed, plan, self.brief.wanted, self.brief.known.max_tasks)
            repairs = (*repairs, *back)
        return PlanMade(joined(plan) if self.brief.profile.joins_results else plan, attempt, repairs)

    def _may_be_brief(self, plan: Plan) -> bool:
        """Neither the arguments of tools nor a chain of functions need to repeat the goal."""
        return self.brief.functions or any(task.action_type == "tool" for task in plan.tasks)


def _read(reply: Reply, brief: Brief) -> Reading:
    """The plan in a reply, and all its faults."""
    if reply.cut_off:
        return Reading({}, (_CUT_OFF,))
    try:
        return read_answer(reply.text, brief.profile.shape, brief.judged_by)
    except NotJson as error:
        return Reading({}, (f"{error}; answer with one JSON object that has a 'tasks' list",))
