"""One model's gate: how soon its next call may be made, and how many at a time.

Not before Retry-After has passed, no more than rpm and tpm, not while the provider is down; fewer at a time after each
sign of overload, one more with each round of successes.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from planner.errors import ModelError, Overloaded, RateLimited, ServerFailed, Transient, UnknownModel, Unreachable

# How long the others wait at most for the first call of a model that has a pace.
_FIRST_TAKES = 5.0
_DOWN_AFTER = 8
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
# Calls that were under way together give one sign of overload, not many.
_ONE_SIGN = 1.0
_UNTIL_ONE_ENDS = math.inf


@dataclass(frozen=True, slots=True)
class Rates:
    """What a batch may ask: calls at a time, and for each model calls and tokens a minute."""

    max_calls: int = 32
    rpm: float | None = None
    tpm: float | None = None


@dataclass(slots=True, eq=False)
class RateLimiter:
    """What is known of a model's provider, from how calls to it went."""

    rates: Rates
    limit: float = 0.0
    under_way: int = 0
    opens_at: float = 0.0
    next_call: float = 0.0
    tokens: float = 0.0
    failures: int = 0
    unknown: bool = False
    _counted_at: float = field(default_factory=time.monotonic)
    _narrowed_at: float = -math.inf
    _probing: bool = False
    _first: float | None = None
    _answered: bool = False

    def __post_init__(self) -> None:
        self.limit = float(self.rates.max_calls)
        self.tokens = self.rates.tpm or 0.0

    @property
    def is_down(self) -> bool:
        """Whether so many calls failed in a row that the provider must be down."""
        return self.failures >= _DOWN_AFTER

    def wait(self, tokens: int) -> float:
        """Seconds until a call of about so many tokens may be made; without end where another must end first."""
        if self._probing or self.under_way >= max(int(self.limit), 1):
            return _UNTIL_ONE_ENDS
        now, rates = time.monotonic(), self.rates
        waits = [self.opens_at - now]
        if rates.rpm:
            waits.append(self.next_call - now)
            if self._first is not None and not self._answered:
                waits.append(self._first + _FIRST_TAKES - now)
        if rates.tpm:
            self.tokens = min(rates.tpm, self.tokens + (now - self._counted_at) * rates.tpm / 60.0)
            self._counted_at = now
            waits.append((min(tokens, rates.tpm) - self.tokens) * 60.0 / rates.tpm)
        return max(waits)

    def closed(self, patience: float) -> str:
        """Why someone with so many seconds, and another model to turn to, need not wait; empty where they should."""
        if patience == math.inf:
            return ""
        pause = self.opens_at - time.monotonic()
        if self.unknown:
            return "does not exist"
        if self.is_down and (self._probing or pause > 0):
            return "is down"
        return f"asked for a pause, of which {pause:.0f} s are left" if pause > patience else ""

    def enter(self, tokens: int) -> None:
        """A call is made."""
        self.under_way += 1
        self.tokens -= tokens
        self._probing = self.is_down
        if self.rates.rpm:
            now = time.monotonic()
            self.next_call = max(self.next_call, now) + 60.0 / self.rates.rpm
            self._first = now if self._first is None else self._first

    def leave(self) -> None:
        """A call ended, however it did; after the first the pace begins anew, for making a connection delayed it."""
        self.under_way -= 1
        self._probing = False
        if self.rates.rpm and not self._answered:
            self.next_call = max(self.next_call, time.monotonic() + 60.0 / self.rates.rpm)
        self._answered = True

    def went_well(self, tokens: int, used: int) -> None:
        """A call was answered: its tokens are what it really used."""
        self.failures = 0
        self.unknown = False
        self.tokens += tokens - used
        self.limit = min(float(self.rates.max_calls), self.limit + 1 / max(self.limit, 1.0))

    def went_wrong(self, error: ModelError, tokens: int) -> None:
        """A call failed: shut the gate for as long as the provider asked, or longer each time where it is down."""
        now = time.monotonic()
        self.tokens += tokens
        self.unknown = isinstance(error, UnknownModel)
        if isinstance(error, Transient) and error.retry_after is not None:
            self.opens_at = max(self.opens_at, now + error.retry_after)
        if isinstance(error, RateLimited | Overloaded) and now - self._narrowed_at > _ONE_SIGN:
            self._narrowed_at = now
            self.limit = max(1.0, self.limit / 2)
        if isinstance(error, Unreachable | ServerFailed | Overloaded):
            if self.is_down and now < self.opens_at:
                return  # it was under way when the outage was found: the pause is as long as it was
            self.failures += 1
            if self.is_down:
                pause = min(_FIRST_PAUSE * 2 ** (self.failures - _DOWN_AFTER), _LONGEST_PAUSE)
                self.opens_at = max(self.opens_at, now + pause)
        elif not isinstance(error, Transient):
            self.failures = 0
