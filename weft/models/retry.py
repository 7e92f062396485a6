"""A call that failed in passing is made again, for a while; one that was refused is not."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from planner.errors import CallTimedOut, Overloaded, RateLimited, Transient
from planner.events import CallRetried

if TYPE_CHECKING:
    from planner.events import Record
    from planner.model import Model, Reply, Request


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a model is given: attempts for failures, seconds where it asks for fewer calls."""

    attempts: int = 5
    timeouts: int = 2
    seconds: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 20.0

    def wait(self, state: RetryCallState) -> float:
        """The pause before the next attempt: what the provider asked for, else longer each time, with jitter."""
        error = state.outcome.exception() if state.outcome else None
        backoff: float = min(self.first_wait * 2 ** (state.attempt_number - 1), self.longest_wait)
        jittered = backoff * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
        if isinstance(error, Transient) and error.retry_after is not None:
            return error.retry_after + min(jittered, 0.5)
        return jittered

    def is_over(self, state: RetryCallState, failures: int) -> bool:
        """Whether to give up: after so many failures, or where the provider asks for fewer calls after so long."""
        error = state.outcome.exception() if state.outcome else None
        waited = state.seconds_since_start or 0.0
        if isinstance(error, RateLimited | Overloaded):
            return waited + state.upcoming_sleep > self.seconds
        return failures >= (self.timeouts if isinstance(error, CallTimedOut) else self.attempts)


@dataclass(frozen=True, slots=True)
class RetryingModel:
    """A model whose passing failures are waited out."""

    model: Model
    patience: RetryPolicy
    record: Record

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """Answer the request, after as many attempts as patience allows; most need but the first."""
        try:
            return await self.model.complete(request)
        except Transient as error:
            return await self._again(request, error)

    async def _again(self, request: Request, first: Transient) -> Reply:
        failed = [first]
        failures = 0

        async def attempt() -> Reply:
            if failed:
                raise failed.pop()
            return await self.model.complete(request)

        def is_over(state: RetryCallState) -> bool:
            nonlocal failures
            error = state.outcome.exception() if state.outcome else None
            failures += not isinstance(error, RateLimited | Overloaded)
            return self.patience.is_over(state, failures)

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(Transient),
            wait=self.patience.wait,
            stop=is_over,
            before_sleep=lambda state: self._tell(state, request),
            reraise=True,
        )
        return await attempts(attempt)

    def _tell(self, state: RetryCallState, request: Request) -> None:
        reason = str(state.outcome.exception()) if state.outcome else ""
        wait = state.upcoming_sleep
        self.record(CallRetried(request.role, request.task, self.name, state.attempt_number, wait, reason))
