"""The port of engines: who runs a batch's goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from goalwright.runs.goal import BatchPlace, Goal
from goalwright_executor.history.result import Result
from goalwright_planner.model import Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.normal_form import normal_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goalwright.batch.goals import BatchGoal
    from goalwright.models.budget import Budget
    from goalwright.models.model_check import ModelProblem
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright_planner.events import Record


@dataclass(frozen=True, slots=True)
class Job:
    """A goal, and the id of its run, which the batch gives: a process that takes the goal over finds what was done.

    With `begun`, the journal may have the run: it is continued if it is there. If the goal `waited` for a person and
    its run has ended since, that is the result.
    """

    goal: BatchGoal
    run_id: str
    record: Record
    place: BatchPlace | None = None
    begun: bool = False
    waited: bool = False

    @property
    def asked(self) -> Goal:
        """The goal as a run takes it."""
        return goal_of(self.goal, self.place)

    @property
    def interrupted(self) -> Result:
        """The result if it is stopped while it waits for its turn."""
        return Result(self.run_id, "interrupted", self.goal.text, None, "interrupted", None, (), (), Usage(), 0.0, None)


@dataclass(frozen=True, slots=True)
class ModelPause:
    """A model that is not called for some seconds: its provider asked for a pause, or is down."""

    model: str
    seconds: float
    is_down: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """How a batch's calls go now: those that run, how many may at a time, at best and now, and which models pause.

    `workers` says how many processes run goals, where an engine has several.
    """

    calls: int
    most: int
    limit: int
    pauses: tuple[ModelPause, ...] = ()
    workers: str = ""


class Engine(Protocol):
    """Runs goals; says how many at a time it can use."""

    def has_room(self, running: int) -> bool:
        """Whether another goal should start beside those that run."""

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end, or until `stop` is set."""

    async def close(self) -> None:
        """Close what was opened."""


class BatchEngine(Engine, Protocol):
    """An engine with all that a batch asks of it: what is looked up here, started, waited for and shown."""

    @property
    def budget(self) -> Budget:
        """What the batch may spend, and has spent."""

    @property
    def is_stuck(self) -> bool:
        """Whether something could not be closed, so that the process has to exit without waiting for it."""

    def runtime(self, goal: BatchGoal | None = None) -> Goalwright:
        """The runtime here for a goal with settings of its own, or for any: it checks goals and opens the journal."""

    def start(self, calling: int, models: Sequence[str]) -> None:
        """Start what so many goals that call these models need; it loads while the rest is checked."""

    def problems(self, names: Sequence[str]) -> list[ModelProblem]:
        """What keeps these models from being called, as far as it can be known without a call."""

    async def warm(self, say: Callable[[str], None], goals: Iterable[BatchGoal] = ()) -> None:
        """Wait for what was started, and for what the goals need; raises if none can run.

        It may `say` something about the whole batch, later.
        """

    def pace(self) -> Pace:
        """How the calls go now."""

    def abandon(self) -> None:
        """End what was started for a batch that does not run after all."""


def goal_of(goal: BatchGoal, place: BatchPlace | None = None) -> Goal:
    """Return the goal as a run takes it; its plan was validated with the file."""
    repairs = tuple(normal_form(goal.plan).repairs) if goal.plan else ()
    return Goal(
        goal.text,
        goal.skills,
        goal.files,
        plan=plan_of(goal),
        stream=False,
        repairs=repairs,
        place=place,
        recipe=goal.recipe_use,
    )


def settings_of(goal: BatchGoal) -> dict[str, Any]:
    """The settings that a goal has of its own."""
    return {**goal.settings, **({"model": goal.model} if goal.model else {})}


def plan_of(goal: BatchGoal) -> Plan | None:
    """The plan that comes with a goal, if any."""
    return Plan.from_dict(normal_form(goal.plan).document) if goal.plan else None
