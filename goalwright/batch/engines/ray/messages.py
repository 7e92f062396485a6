"""What a batch and its workers say to each other. No key of a provider is among it: workers have their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec.structs import replace

from goalwright_planner.events import CallBroken, CallFinished, CallRetried, TaskFinished, TaskStarted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.batch.engine import Pace
    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.limits.shared.budget import BudgetGrant, BudgetRequest
    from goalwright.batch.options import BatchOptions
    from goalwright.models.model_check import ModelProblem
    from goalwright.runs.goal import BatchPlace
    from goalwright.settings.convert import ModelPrice
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Event


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker needs to run goals: the version to be, the batch's `options`, the models to call.

    On the machine of the batch it uses the `workspace` and `settings` there; elsewhere those of the `bundle` with this
    hash, and the `journal`. `max_replans` is what the batch may do at most. `flags` are the settings that its command
    line gave: they beat the machine's own, and a machine that cannot follow them is not used. `prices` are its user's,
    for its budget, which `assumes` one where none is known.
    """

    version: str
    options: BatchOptions
    models: tuple[str, ...]
    slots: int
    workspace: str = ""
    settings: Settings | None = None
    bundle: str = ""
    journal: str = ""
    max_replans: int = 0
    flags: Mapping[str, Any] = field(default_factory=dict)
    prices: Mapping[str, ModelPrice] = field(default_factory=dict)
    assumes: bool = False


@dataclass(frozen=True, slots=True)
class SharedObjects:
    """What all workers of a batch use; the `limiter` is an actor with the method of `Limiter`, and is awaited.

    `bundle`, too, is awaited: it is a reference to its bytes, of which each node gets one copy.
    """

    limiter: Any
    bundle: Any = None


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker that is there: which process it is, where, of which version, and what keeps it from running goals.

    `ignored` says which settings of the batch do not count there; a `fault` that `is_temporary` may pass. `machine` is
    Ray's id of the node.
    """

    process: str
    node: str
    version: str
    problems: tuple[ModelProblem, ...] = ()
    fault: str = ""
    ignored: tuple[str, ...] = ()
    is_temporary: bool = False
    machine: str = ""


@dataclass(frozen=True, slots=True)
class GoalJob:
    """A goal for a worker; with `begun`, the journal may have its run."""

    goal: BatchGoal
    run_id: str
    place: BatchPlace | None
    begun: bool
    waited: bool


@dataclass(frozen=True, slots=True)
class GoalEnded:
    """The goal ended, in whatever way."""

    result: Result


@dataclass(frozen=True, slots=True)
class GoalRefused:
    """The goal could not start or continue, and the reason is its own."""

    message: str
    hint: str
    code: str


@dataclass(frozen=True, slots=True)
class GoalReturned:
    """The goal goes back, and not by its own fault: another process has the run, or the journal is out of reach.

    If the budget is spent, its next call takes so many dollars (`cost`) and `tokens` at least, if that is why.
    """

    why: str
    reason: Literal["held", "lost", "journal", "budget"]
    cost: float = 0.0
    tokens: int = 0


Outcome = GoalEnded | GoalRefused | GoalReturned


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """How a worker is since its last report: events without their texts, its calls, its journal and its memory.

    `refused` calls got 429. It is `stopped` if another process asked for it, through the journal.
    """

    events: tuple[Event, ...]
    pace: Pace
    commit_seconds: float
    memory: int
    stopped: bool
    refused: int = 0


class NumberedRequest(NamedTuple):
    """A worker's request, and the number that the grant must have."""

    number: int
    request: BudgetRequest


class NumberedGrant(NamedTuple):
    """What was granted for the request of this number."""

    number: int
    grant: BudgetGrant


def without_texts(event: Event) -> Event | None:
    """An event as a live view needs it; None if it does not need it."""
    match event:
        case CallFinished():
            return replace(event, reply=replace(event.reply, text="", tool_calls=()))
        case CallBroken() | CallRetried():
            return replace(event, reason="")
        case TaskFinished():
            return replace(event, output=None, error=None)
        case TaskStarted():
            return event
        case _:
            return None
