"""A batch of like goals plans once: the plan of the first is a recipe for the others, which wait for it.

a goal that is like none before it leads: its own run plans, and what that plans becomes a recipe → like goals wait, and
take the plan with their own words → a batch that is resumed finds its leads in the journal
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright.runs.goal import Goal
from goalwright.runs.recipes.check import check
from goalwright.runs.recipes.making import RecipeSource, found_parameters, made, shareable
from goalwright.runs.recipes.matching import RecipeMatcher, asks_for_more, like_goal
from goalwright.runs.stored import records
from goalwright_planner.events import PlanMade, RecipeUse, RunStarted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright.runs.recipes.matching import Match
    from goalwright.runs.recipes.recipe import Recipe
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright_planner.events import Event

# A batch of goals of more kinds than this plans the rest one by one; of a batch that is resumed, so many runs are read.
_MOST_LEADS = 200
_MOST_READ = 2_000


class StoppedWaiting(Exception):
    """The batch was stopped while a goal waited for another's plan: it has not begun."""


@dataclass(slots=True)
class Lead:
    """A goal whose plan may serve others; `expected` is the recipe that it would be if the plan had all its words."""

    goal: str
    run_id: str
    skills: tuple[str, ...]
    expected: Recipe
    recipe: asyncio.Future[Recipe | None]

    @classmethod
    def of(cls, goal: Goal, run_id: str) -> Lead:
        """A goal that has no plan yet."""
        source = RecipeSource(goal.text, {"tasks": [{"instruction": goal.text}]})
        expected = made(run_id, source, found_parameters(source))
        return cls(goal.text, run_id, goal.skills, expected, asyncio.get_running_loop().create_future())

    def note(self, event: Event) -> None:
        """Hear an event of its run: the plan that a model made is what others wait for."""
        if isinstance(event, PlanMade) and event.plan.tasks and not self.recipe.done():
            source = RecipeSource(self.goal, event.plan.without_grown().to_dict(), run_id=self.run_id)
            self.recipe.set_result(shareable(self.run_id, source) if event.attempts else None)

    @property
    def is_useless(self) -> bool:
        """Whether it is known that no other goal can take its plan."""
        return self.recipe.done() and self.recipe.result() is None

    def end(self) -> None:
        """Its run has ended: without a plan, nobody can use it."""
        if not self.recipe.done():
            self.recipe.set_result(None)


@dataclass(slots=True)
class SharedPlans:
    """The plans of a batch's goals that others may take over; the goals have the settings of one runtime."""

    goalwright: Goalwright
    _leads: list[Lead] = field(default_factory=list)
    _matcher: RecipeMatcher = field(default_factory=RecipeMatcher)
    _restored: asyncio.Future[None] | None = None

    async def prepared(self, goal: Goal, run_id: str, stop: Stop) -> tuple[Goal, Lead | None]:
        """The goal with a plan that it can take over; or as it is, and then it leads, unless it cannot share at all."""
        if goal.plan is not None or goal.schema is not None:
            return goal, None
        goal = await asyncio.to_thread(self.goalwright.with_recipe, goal)
        if goal.recipe is not None or goal.files:
            return goal, None
        await self._restore(goal)
        for lead in self._candidates(goal):
            recipe = await _unless_stopped(lead.recipe, stop)
            taken = await asyncio.to_thread(self._taken, goal, recipe) if recipe is not None else None
            if taken is not None:
                return taken, None
        return goal, self.lead(goal, run_id)

    def lead(self, goal: Goal, run_id: str) -> Lead | None:
        """Let a goal lead, unless there are too many."""
        self._leads = [lead for lead in self._leads if not lead.is_useless]
        if len(self._leads) >= _MOST_LEADS:
            return None
        lead = Lead.of(goal, run_id)
        self._leads.append(lead)
        return lead

    async def resumed(self, goal: Goal, run_id: str) -> Lead | None:
        """Let a goal whose run is resumed lead, unless the journal has its plan."""
        await self._restore(goal)
        return None if any(lead.run_id == run_id for lead in self._leads) else self.lead(goal, run_id)

    def plan_on_record(self, run_id: str) -> PlanMade | None:
        """The plan that a run in another process has by now."""
        rows = self.goalwright.journal.store.rows(run_id, types=("plan_made",))
        events = (records.event_of(row, self.goalwright.paths) for row in rows)
        return next((event for event in events if isinstance(event, PlanMade)), None)

    def _candidates(self, goal: Goal) -> Iterator[Lead]:
        """The leads that a goal is like, those that come while it waits too."""
        tried: set[str] = set()
        while (lead := next((one for one in self._leads if one.run_id not in tried), None)) is not None:
            tried.add(lead.run_id)
            same = not lead.is_useless and lead.skills == goal.skills
            if same and like_goal(goal.text, lead.expected) is not None:
                yield lead

    def _taken(self, goal: Goal, recipe: Recipe) -> Goal | None:
        """The goal with another's plan and its own words in it, if the plan fits."""
        match = self._matcher.match(goal.text, [recipe])
        if match is None or asks_for_more(goal, recipe, self.goalwright.workspace):
            return None
        return _with_plan(self.goalwright, goal, match)

    async def _restore(self, goal: Goal) -> None:
        """Find the leads of a batch that is resumed, once."""
        if self._restored is None:
            self._restored = asyncio.ensure_future(self._read(goal.place.batch if goal.place else ""))
        await asyncio.shield(self._restored)

    async def _read(self, batch: str) -> None:
        for started, planned in await asyncio.to_thread(lambda: list(self._planned(batch))) if batch else ():
            goal = Goal(started.goal, skills=tuple(started.asked_skills))
            if (lead := self.lead(goal, started.run_id)) is not None:
                lead.note(planned)
                lead.end()

    def _planned(self, batch: str) -> Iterator[tuple[RunStarted, PlanMade]]:
        """The runs of a batch that a model has planned, the first ones."""
        store, paths = self.goalwright.journal.store, self.goalwright.paths
        for run in reversed(deque(store.summaries(batch=batch), _MOST_READ)):
            rows = store.rows(run.run_id, types=("run_started", "plan_made"))
            events = [records.event_of(row, paths) for row in rows]
            started = next((event for event in events if isinstance(event, RunStarted)), None)
            planned = next((event for event in events if isinstance(event, PlanMade)), None)
            if started is not None and planned is not None and planned.attempts and not started.files:
                yield started, planned


def _with_plan(goalwright: Goalwright, goal: Goal, match: Match) -> Goal | None:
    recipe, values = match.recipe, match.recipe.values(match.values)
    skills = {skill.name: skill for skill in goalwright.workspace.skills.active()}
    checked = check(recipe, values, goalwright.workspace.known(), skills)
    if checked.plan is None:
        return None
    use = RecipeUse(recipe.name, values, "batch", match.reason, match.score, recipe.run_id)
    return replace(goal, plan=checked.plan, recipe=use)


async def _unless_stopped(recipe: asyncio.Future[Recipe | None], stop: Stop) -> Recipe | None:
    """A lead's recipe, once there is one; raises if the batch is stopped before."""
    if not recipe.done():
        stopped = asyncio.ensure_future(stop.wait())
        try:
            waits: set[asyncio.Future[Any]] = {recipe, stopped}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if not recipe.done():
            raise StoppedWaiting
    return recipe.result()
