"""Where a goal runs: in this process, or wherever another engine takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from planner.plan.plan import Plan
from planner.plan.shape import SHAPES
from weft.runs.goal import Goal

if TYPE_CHECKING:
    from executor.history.result import Result
    from planner.events import Record
    from weft.batch.goals import BatchGoal
    from weft.runs.stop import Stop

Began = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """A goal to run: anew, or from where an earlier run of it stopped; `began` is told the run's id."""

    goal: BatchGoal
    earlier: str | None
    began: Began
    record: Record


class Engine(Protocol):
    """Runs goals, as many at a time as it is given."""

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end."""

    async def close(self) -> None:
        """Let go of what was opened."""


def goal_of(goal: BatchGoal) -> Goal:
    """The goal as a run takes it; its plan was checked with the file."""
    return Goal(goal.text, skills=goal.skills, plan=plan_of(goal))


def plan_of(goal: BatchGoal) -> Plan | None:
    """The plan that a goal brings, read as it was checked."""
    return Plan.from_dict(SHAPES["full"].widen(goal.plan)) if goal.plan else None
