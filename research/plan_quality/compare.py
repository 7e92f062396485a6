"""Measures both sides of a set: goalwright's planner and the set's own prompt."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.model import Usage

from plan_quality.goals import interval
from plan_quality.goalwright_plans import GoalwrightPlans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.prompting.profile import Profile

    from plan_quality.goals import GoalSet, PlanGoal
    from plan_quality.kept_answers import KeptAnswers


@dataclass(slots=True)
class Side:
    """The figures of one side: each goal's scores, the tokens, and how answers were read."""

    figures: list[tuple[float, ...]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    repaired: int = 0
    asked_again: int = 0
    refused: int = 0
    by_rule: int = 0

    def mean(self, measure: int) -> float:
        """Return the mean of a figure."""
        values = [row[measure] for row in self.figures]
        return sum(values) / len(values) if values else 0.0

    def range(self, measure: int) -> tuple[float, float]:
        """Return the 95 % interval of the mean."""
        return interval([row[measure] for row in self.figures])


async def by_published(goal_set: GoalSet, goals: Sequence[PlanGoal], model: KeptAnswers) -> Side:
    """Measure the set's own prompt, asked once; an unreadable answer counts as 0."""
    side, before = Side(), model.usage
    replies = await asyncio.gather(*(model.answer(goal.published) for goal in goals))
    side.usage = _since(before, model.usage)
    for goal, reply in zip(goals, replies, strict=True):
        try:
            made = goal_set.of_answer(reply.text, goal)
            side.figures.append(goal_set.score(made, goal))
        except (ValueError, KeyError, TypeError, AttributeError):  # whatever the model wrote
            side.refused += 1
            side.figures.append((0.0,) * len(goal_set.measures))
    return side


async def by_goalwright(goal_set: GoalSet, goals: Sequence[PlanGoal], model: KeptAnswers, profile: Profile) -> Side:
    """Measure goalwright's planner, including repeated requests; a goal without a plan counts as 0."""
    side, before = Side(), model.usage
    with GoalwrightPlans(model, profile) as planner:
        plans = await asyncio.gather(*map(planner.plan, goals))
    side.usage = _since(before, model.usage)
    for goal, planned in zip(goals, plans, strict=True):
        side.repaired += planned.repaired
        side.asked_again += planned.refused
        side.by_rule += planned.by_rule
        if planned.plan is None:
            side.refused += 1
            side.figures.append((0.0,) * len(goal_set.measures))
        else:
            side.figures.append(goal_set.score(goal_set.of_plan(planned.plan, goal), goal))
    return side


def _since(before: Usage, after: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
    )
