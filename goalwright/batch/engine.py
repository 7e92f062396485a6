"""The port of engines, which run the goals of a batch."""

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
    """A goal and the id of its run; the batch assigns the id, so that another process finds what was done.

    If `begun`, the run may be in the journal, and is then continued. If the goal `waited` for a person and its run has
    ended since, the recorded result is used.
    """

    goal: BatchGoal
    run_id: str
    record: Record
    place: BatchPlace | None = None
    begun: bool = False
    waited: bool = False

    @property
    def asked(self) -> Goal:
        """The goal in the form that a run takes."""
        return goal_of(self.goal, self.place)

    @property
    def interrupted(self) -> Result:
        """The result of a goal that is stopped before its turn."""
        return Result(self.run_id, "interrupted", self.goal.text, None, "interrupted", None, (), (), Usage(), 0.0, None)


@dataclass(frozen=True, slots=True)
class ModelPause:
    """A model that is not called for some seconds, because its provider asked for a pause or is down."""

    model: str
    seconds: float
    is_down: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """The state of a batch's calls: running, the most at a time, the current limit, and models that pause.

    `workers` says how many processes run goals, if the engine has several.
    """

    calls: int
    most: int
    limit: int
    pauses: tuple[ModelPause, ...] = ()
    workers: str = ""


class Engine(Protocol):
    """Runs goals."""

    def has_room(self, running: int) -> bool:
        """Whether another goal should start beside the running ones."""

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end, or until `stop` is set."""

    async def close(self) -> None:
        """Close what was opened."""


class BatchEngine(Engine, Protocol):
    """An engine with everything else that a batch needs: runtime, startup, warmup and progress."""

    @property
    def budget(self) -> Budget:
        """The batch's budget, with what was spent."""

    @property
    def is_stuck(self) -> bool:
        """Whether something could not be closed, so that the process must exit without waiting for it."""

    def runtime(self, goal: BatchGoal | None = None) -> Goalwright:
        """Return the local runtime for a goal with its own settings, or the default one."""

    def start(self, calling: int, models: Sequence[str]) -> None:
        """Start loading what `calling` goals that call these models need, in the background."""

    def problems(self, names: Sequence[str]) -> list[ModelProblem]:
        """Return the reasons why these models cannot be called, as far as known without a call."""

    async def warm(self, say: Callable[[str], None], goals: Iterable[BatchGoal] = ()) -> None:
        """Wait until the engine can run goals; raises if it never can.

        It may call `say` later, with messages about the whole batch.
        """

    def pace(self) -> Pace:
        """Return the current state of the calls."""

    def abandon(self) -> None:
        """Stop what was started for a batch that does not run after all."""


def goal_of(goal: BatchGoal, place: BatchPlace | None = None) -> Goal:
    """Return a goal in the form that a run takes; its plan was validated with the file."""
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
    """Return the settings that a goal has of its own."""
    return {**goal.settings, **({"model": goal.model} if goal.model else {})}


def plan_of(goal: BatchGoal) -> Plan | None:
    """Return the plan that comes with a goal, if any."""
    return Plan.from_dict(normal_form(goal.plan).document) if goal.plan else None
