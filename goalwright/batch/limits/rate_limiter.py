"""The rate limiter of a model: when its next call may start, and how many may run at a time.

It respects Retry-After, rpm and tpm, and pauses while the provider is down. A sign of overload halves the number of
concurrent calls; each round of successes adds one.
"""

from __future__ import annotations

import math
import time
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
    from collections.abc import Callable

# With a rate limit, the most seconds that other calls wait for a model's first one.
_FIRST_TAKES = 5.0
_DOWN_AFTER = 8
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
# Overloads within this many seconds count as one, because the calls were made together.
_ONE_SIGN = 1.0
_UNTIL_ONE_ENDS = math.inf


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits of a batch: concurrent calls, and calls and tokens per minute for each model."""

    max_calls: int = 32
    rpm: float | None = None
    tpm: float | None = None


@dataclass(slots=True, eq=False)
class RateLimiter:
    """The state of a model's provider, learned from its calls."""

    rates: Rates
    clock: Callable[[], float] = time.monotonic
    limit: float = 0.0
    running: int = 0
    opens_at: float = 0.0
    next_call: float = 0.0
    tokens: float = 0.0
    failures: int = 0
    unknown: bool = False
    _counted_at: float = field(init=False)
    _narrowed_at: float = -math.inf
    _probing: bool = False
    _first: float | None = None
    _answered: bool = False

    def __post_init__(self) -> None:
        self.limit = float(self.rates.max_calls)
        self.tokens = self.rates.tpm or 0.0
        self._counted_at = self.clock()

    @property
    def is_down(self) -> bool:
        """Whether so many calls in a row failed that the provider counts as down."""
        return self.failures >= _DOWN_AFTER

    def wait(self, tokens: int) -> float:
        """Return the seconds until a call of about this many tokens may start; infinite if another must end first."""
        if self._probing or self.running >= max(int(self.limit), 1):
            return _UNTIL_ONE_ENDS
        now, rates = self.clock(), self.rates
        waits = [self.opens_at - now]
        if rates.rpm:
            waits.append(self.next_call - now)
            if self._first is not None and not self._answered:
                waits.append(self._first + _FIRST_TAKES - now)
        if rates.tpm:
            self.refill(now)
            waits.append((min(tokens, rates.tpm) - self.tokens) * 60.0 / rates.tpm)
        return max(waits)

    def refill(self, now: float) -> None:
        """Add the tokens that have become available since the last refill."""
        if self.rates.tpm:
            self.tokens = min(self.rates.tpm, self.tokens + (now - self._counted_at) * self.rates.tpm / 60.0)
        self._counted_at = now

    def closed(self, patience: float) -> str:
        """Return why a caller with a fallback and this much patience should not wait; empty if it should."""
        if patience == math.inf:
            return ""
        pause = self.opens_at - self.clock()
        if self.unknown:
            return "does not exist"
        if self.is_down and (self._probing or pause > 0):
            return "is down"
        return f"asked for a pause, with {pause:.0f} s left" if pause > patience else ""

    def enter(self, tokens: int) -> None:
        """A call starts."""
        self.running += 1
        self.tokens -= tokens
        self._probing = self.is_down
        if self.rates.rpm:
            now = self.clock()
            self.next_call = max(self.next_call, now) + 60.0 / self.rates.rpm
            self._first = now if self._first is None else self._first

    def leave(self) -> None:
        """A call ended; pacing restarts after the first one, which also had to connect."""
        self.running -= 1
        self._probing = False
        if self.rates.rpm and not self._answered:
            self.next_call = max(self.next_call, self.clock() + 60.0 / self.rates.rpm)
        self._answered = True

    def succeeded(self, tokens: int, used: int) -> None:
        """A call was answered; its real tokens replace the estimate."""
        self.failures = 0
        self.unknown = False
        self.tokens += tokens - used
        self.limit = min(float(self.rates.max_calls), self.limit + 1 / max(self.limit, 1.0))

    def failed(self, error: ModelError, tokens: int) -> None:
        """A call failed: pause for as long as the provider asks, or longer each time while it is down."""
        now = self.clock()
        self.tokens += tokens
        self.unknown = isinstance(error, UnknownModel)
        if isinstance(error, Transient) and error.retry_after is not None:
            self.opens_at = max(self.opens_at, now + error.retry_after)
        if isinstance(error, RateLimited | Overloaded) and now - self._narrowed_at > _ONE_SIGN:
            self._narrowed_at = now
            self.limit = max(1.0, self.limit / 2)
        if isinstance(error, Unreachable | ServerFailed | Overloaded):
            if self.is_down and now < self.opens_at:
                return  # the call started before the outage was noticed, so it does not lengthen the pause
            self.failures += 1
            if self.is_down:
                pause = min(_FIRST_PAUSE * 2 ** (self.failures - _DOWN_AFTER), _LONGEST_PAUSE)
                self.opens_at = max(self.opens_at, now + pause)
        elif not isinstance(error, Transient):
            self.failures = 0
