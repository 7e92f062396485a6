"""The port of engines: who runs a batch's goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from planner.plan.normal_form import normal_form
from planner.plan.plan import Plan
from weft.runs.goal import BatchPlace, Goal

if TYPE_CHECKING:
    from executor.history.result import Result
    from planner.events import Record
    from weft.batch.goals import BatchGoal
    from weft.runs.stop import Stop


@dataclass(frozen=True, slots=True)
class Job:
    """A goal, and the id of its run, which the batch gives: so whoever takes over the goal finds what was done.

    With `begun`, the journal may have the run: it is continued if it is there. If the goal `waited` for a person and
    its run has ended since, that is the result.
    """

    goal: BatchGoal
    run_id: str
    record: Record
    place: BatchPlace | None = None
    begun: bool = False
    waited: bool = False


class Engine(Protocol):
    """Runs goals; says how many at a time it can use."""

    def has_room(self, running: int) -> bool:
        """Whether another goal should start beside those that run."""

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end, or until `stop` is set."""

    async def close(self) -> None:
        """Close what was opened."""


def goal_of(goal: BatchGoal, place: BatchPlace | None = None) -> Goal:
    """The goal as a run takes it; its plan was validated with the file."""
    return Goal(goal.text, skills=goal.skills, plan=plan_of(goal), place=place)


def plan_of(goal: BatchGoal) -> Plan | None:
    """The plan that comes with a goal, if any."""
    return Plan.from_dict(normal_form(goal.plan).document) if goal.plan else None
