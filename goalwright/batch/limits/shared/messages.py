"""The messages between a worker and the limiter. All times are the limiter's, so that clocks are never compared."""

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

# Seconds before its time that a permit is issued, and after it that the call may still be made.
AHEAD = 0.5
LATE = 0.5
# Seconds that a worker counts after its last message, and that it may use the grant.
LIFE = 1.0
# Seconds between the messages of a worker that makes calls.
EVERY = 0.25

# The kinds of failure that a limiter distinguishes, the narrowest first.
_KINDS = (RateLimited, Overloaded, ServerFailed, Unreachable, Transient, UnknownModel, ModelError)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call: its tokens as estimated and as used, or the kind of failure. It has no texts."""

    tokens: int
    used: int = 0
    failure: str = ""
    retry_after: float | None = None

    @classmethod
    def of(cls, error: ModelError, tokens: int) -> CallOutcome:
        """Return the outcome of a call that failed."""
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
    """A worker's report on one model: running calls, its demand, and the permits that it needs or returns.

    `wanted` has the tokens of each call that needs a permit; `held` the tokens it still has.
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
    """A worker's message; `limiter` answered its last one, `slots` is the number of concurrent calls it can make."""

    worker: str
    slots: int
    models: Mapping[str, ModelRequest] = field(default_factory=dict)
    limiter: str = ""


@dataclass(frozen=True, slots=True)
class ModelGrant:
    """A grant for one model: concurrent calls, the times of calls to come, and the state of the provider.

    `starts` are times of the limiter's clock; each call may be made from then until `LATE` seconds after it.
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
