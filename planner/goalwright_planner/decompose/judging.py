"""Judges a planner's answers: a plan, or why it is refused.

A plan that leaves out a required skill is refused each time. A plan that only leaves out skills which were selected
with certainty is refused once, and kept: it counts if no later plan can run, or if the next one would lose tasks of it
that have begun.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from goalwright_planner.decompose import required
from goalwright_planner.decompose.prompt import CUT_OFF
from goalwright_planner.events import PlanMade
from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.unused_skills import left_out
from goalwright_planner.reading.plan_answer import Reading, read_answer
from goalwright_planner.small_models.completion import completed, with_skills
from goalwright_planner.small_models.rules import with_joined_results

if TYPE_CHECKING:
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.decompose.required import Unused
    from goalwright_planner.decompose.streaming import EarlyStart
    from goalwright_planner.model import Reply


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer is refused: its own faults, unused required skills, and faults about skills that were certain."""

    own: tuple[str, ...]
    unused: tuple[Unused, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """All faults that the model is asked to correct."""
        return (*self.own, *(skill.fault for skill in self.unused), *self.left_out)

    @property
    def only_required(self) -> bool:
        """Whether the plan could run if it used the required skills."""
        return bool(self.unused) and not self.own and not self.left_out


@dataclass(slots=True)
class PlanJudge:
    """Judges the successive answers to one brief."""

    brief: Brief
    early: EarlyStart | None = None
    _asked: bool = False
    _kept: PlanMade | None = None
    _begun: tuple[str, ...] = ()

    async def verdict(self, reply: Reply, attempt: int) -> PlanMade | Refusal:
        """Return the plan in a reply, completed if a small model wrote it; or why it is refused."""
        brief, last = self.brief, attempt == self.brief.attempts
        reading = _read(reply, brief)
        if reading.faults:
            if self._kept is not None and last:
                return _earlier(self._kept, attempt, f"answer {attempt} cannot run")
            return self._refused(reading.faults, reading.document, again=True)
        made = await self._with_required(await self._made(reading, attempt))
        document = made.plan.to_dict()
        if required.unused(document, brief.required):
            return self._refused((), document, again=not self._asked and not last)
        missing = left_out(document, brief.must_use)
        if missing and not self._asked and not last:
            self._kept = made
            self._begun = self.early.could_begin(reply.text) if self.early is not None and attempt == 1 else ()
            return self._refused((), document, again=True)
        if self._kept is not None and not made.plan.tasks:
            return _earlier(self._kept, attempt, f"answer {attempt} is a question")
        if self._kept is not None and self._loses_begun(made.plan, self._kept.plan):
            return _earlier(self._kept, attempt, f"answer {attempt} changes tasks that have begun")
        return await self._with_skills(made, missing)

    def _refused(self, own: tuple[str, ...], document: Any, *, again: bool) -> Refusal:
        """Return the refusal of a plan; with `again`, certain skills that it leaves out are faults too."""
        brief = self.brief
        unused = required.unused(document, brief.required)
        certain = [name for name in brief.must_use if name not in brief.required] if again else ()
        missing = left_out(document, certain)
        self._asked = self._asked or bool(unused or missing)
        return Refusal(own, unused, tuple(map(brief.profile.shape.left_out, missing)))

    def _loses_begun(self, plan: Plan, kept: Plan) -> bool:
        return any(task not in plan or plan.task(task) != kept.task(task) for task in self._begun)

    async def _made(self, reading: Reading, attempt: int) -> PlanMade:
        brief, plan, repairs = self.brief, Plan.from_dict(reading.document), reading.repairs
        # Neither the arguments of tools nor a chain of functions need to repeat the goal.
        partial = brief.candidates.functions or any(task.action_type == "tool" for task in plan.tasks)
        if brief.profile.whole_goal and not partial:
            plan, added = await asyncio.to_thread(completed, plan, brief.planned_goal, brief.known.max_tasks)
            repairs = (*repairs, *added)
        return PlanMade(with_joined_results(plan) if brief.profile.joins_results else plan, attempt, repairs)

    async def _with_required(self, made: PlanMade) -> PlanMade:
        """Return the plan with the required skills that a small model left out again."""
        unused = required.unused(made.plan.to_dict(), self.brief.required) if self._asked else ()
        return await self._with_skills(made, [one.skill for one in unused])

    async def _with_skills(self, made: PlanMade, skills: list[str] | tuple[str, ...]) -> PlanMade:
        """Return the plan with these skills given to tasks, if a small model wrote it."""
        if not skills or not self.brief.profile.whole_goal:
            return made
        plan, repairs = await asyncio.to_thread(with_skills, made.plan, self.brief.planned_goal, skills)
        return replace(made, plan=plan, repairs=(*made.repairs, *repairs))


def _earlier(kept: PlanMade, attempt: int, reason: str) -> PlanMade:
    """Return the plan that was kept from an earlier answer."""
    repair = f"{reason}, so the plan of answer {kept.attempts} counts"
    return replace(kept, attempts=attempt, repairs=(*kept.repairs, repair))


def _read(reply: Reply, brief: Brief) -> Reading:
    if reply.cut_off:
        return Reading({}, (CUT_OFF.format("plan"),))
    try:
        return read_answer(reply.text, brief.profile.shape, brief.judged_by)
    except NotJson as error:
        return Reading({}, (f"{error}; answer with one JSON object that has a 'tasks' list",))
