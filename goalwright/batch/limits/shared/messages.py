"""What a worker requests of the limiter and what it is granted. Times are the limiter's: no two clocks are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.errors import (
    ModelError,
    Overloaded,
    RateLimited,
    ServerFailed,
    Transient,
    UnknownModel,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# How long before its time a permit is issued, and how long after it the call may still be made: a second in all.
AHEAD = 0.5
LATE = 0.5
# How long a worker counts after its last message, and how long it may use what that brought.
LIFE = 1.0
# Seconds between the messages of a worker that makes calls.
EVERY = 0.25

# The kinds of failure that a limiter tells apart, the narrowest first.
_KINDS = (RateLimited, Overloaded, ServerFailed, Unreachable, Transient, UnknownModel, ModelError)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: its tokens as estimated and as used, or the kind of failure. No text travels."""

    tokens: int
    used: int = 0
    failure: str = ""
    retry_after: float | None = None

    @classmethod
    def of(cls, error: ModelError, tokens: int) -> CallOutcome:
        """The outcome of a call that failed."""
        kind = next(kind.__name__ for kind in _KINDS if isinstance(error, kind))
        return cls(tokens, 0, kind, error.retry_after if isinstance(error, Transient) else None)

    @property
    def error(self) -> ModelError | None:
        """The failure as an error without its text; None if the call was answered."""
        kind = next((kind for kind in _KINDS if kind.__name__ == self.failure), None)
        error = kind("") if kind is not None else None
        if isinstance(error, Transient):
            error.retry_after = self.retry_after
        return error


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a worker says of one model: calls that run and that it could run, and what it lacks or gives back.

    `wanted` has the tokens of each call that it wants a permit for; `held` the tokens it still has.
    """

    running: int = 0
    demand: int = 0
    wanted: tuple[int, ...] = ()
    held: float = 0.0
    returned: tuple[float, ...] = ()
    returned_tokens: float = 0.0
    outcomes: tuple[CallOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class LimiterRequest:
    """A worker's message; `limiter` is the one that answered its last, `slots` the calls it can make at a time."""

    worker: str
    slots: int
    models: Mapping[str, ModelRequest] = field(default_factory=dict)
    limiter: str = ""


@dataclass(frozen=True, slots=True)
class ModelGrant:
    """What a worker is granted: calls at a time, the times of calls to come, and what is known of the provider.

    `starts` are times of the limiter's clock; each call may be made from then until `LATE` after it.
    """

    at_once: int
    starts: tuple[float, ...] = ()
    tokens: float = 0.0
    limit: float = 0.0
    opens_in: float = 0.0
    failures: int = 0
    unknown: bool = False
    is_tried: bool = False


@dataclass(frozen=True, slots=True)
class LimiterGrant:
    """The limiter's answer; `now` is the time on its clock."""

    limiter: str
    now: float
    models: Mapping[str, ModelGrant] = field(default_factory=dict)
