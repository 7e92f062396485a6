"""The messages between a batch and its workers. They contain no provider keys: workers have their own."""

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
    """What a worker needs to run goals.

    On the batch's machine it uses that `workspace` and `settings`; elsewhere those of the `bundle` with this hash, and
    the `journal`. `version` must be the worker's own. `max_replans` is an upper limit. `flags` are settings from the
    batch's command line: they override the machine's own, and a machine that cannot follow them is not used. `prices`
    are its user's, and `assumes` says whether unknown prices are estimated.
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
    """The objects that all workers of a batch use.

    `limiter` is an actor with the method of `Limiter`; `bundle` is a reference to its bytes, of which each node gets
    one copy. Both are awaited.
    """

    limiter: Any
    bundle: Any = None


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker that has started: its process, node and version, and what keeps it from running goals.

    `ignored` lists settings of the batch that do not apply on that machine; a fault that `is_temporary` may pass.
    `machine` is Ray's id of the node.
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
    """A goal for a worker; if `begun`, its run may be in the journal."""

    goal: BatchGoal
    run_id: str
    place: BatchPlace | None
    begun: bool
    waited: bool


@dataclass(frozen=True, slots=True)
class GoalEnded:
    """The goal ended, with any status."""

    result: Result


@dataclass(frozen=True, slots=True)
class GoalRefused:
    """The goal could not start or continue, for a reason of its own."""

    message: str
    hint: str
    code: str


@dataclass(frozen=True, slots=True)
class GoalReturned:
    """The goal goes back through no fault of its own: its run is held, or the journal or the budget is not available.

    With the reason `budget`, `cost` and `tokens` are the least that its next call needs.
    """

    message: str
    reason: Literal["held", "lost", "journal", "budget"]
    cost: float = 0.0
    tokens: int = 0


Outcome = GoalEnded | GoalRefused | GoalReturned


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The state of a worker: events since the last report without texts, calls, journal and memory.

    `refused` counts calls that got status 429. It is `stopped` if another process asked for that through the journal.
    """

    events: tuple[Event, ...]
    pace: Pace
    commit_seconds: float
    memory: int
    stopped: bool
    refused: int = 0


class NumberedRequest(NamedTuple):
    """A worker's budget request, with the number that its grant must have."""

    number: int
    request: BudgetRequest


class NumberedGrant(NamedTuple):
    """The grant for the budget request of this number."""

    number: int
    grant: BudgetGrant


def without_texts(event: Event) -> Event | None:
    """Return an event as a live view needs it; None if it does not."""
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
