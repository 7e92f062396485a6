"""Retries calls that failed transiently, within limits; refused calls are not retried."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from goalwright_planner.errors import CallTimedOut, Overloaded, RateLimited, Transient
from goalwright_planner.events import CallRetried
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts after failures and timeouts, and for how many seconds to wait out a rate limit."""

    attempts: int = 5
    timeouts: int = 2
    seconds: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 20.0

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: the provider's `retry-after`, else exponential backoff with jitter."""
        error = state.outcome.exception() if state.outcome else None
        backoff: float = min(self.first_wait * 2 ** (state.attempt_number - 1), self.longest_wait)
        jittered = backoff * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
        if isinstance(error, Transient) and error.retry_after is not None:
            return error.retry_after + min(jittered, 0.5)
        return jittered

    def is_over(self, state: RetryCallState, failures: int) -> bool:
        """Whether to give up: after too many failures, or if waiting out a rate limit would take too long."""
        error = state.outcome.exception() if state.outcome else None
        waited = state.seconds_since_start or 0.0
        if isinstance(error, RateLimited | Overloaded):
            return waited + state.upcoming_sleep > self.seconds
        return failures >= (self.timeouts if isinstance(error, CallTimedOut) else self.attempts)


@dataclass(frozen=True, slots=True)
class RetryingModel(WrappedModel):
    """A model whose transient failures are retried."""

    policy: RetryPolicy
    record: Record

    async def complete(self, request: Request) -> Reply:
        """Answer the request, with as many attempts as the policy allows."""
        try:
            return await self.model.complete(request)
        except Transient as error:
            return await self._retry(request, error)

    async def _retry(self, request: Request, first: Transient) -> Reply:
        pending = [first]  # the first attempt was made without tenacity, which costs time: replay its failure
        failures = 0

        async def attempt() -> Reply:
            if pending:
                raise pending.pop()
            return await self.model.complete(request)

        def is_over(state: RetryCallState) -> bool:
            nonlocal failures
            error = state.outcome.exception() if state.outcome else None
            failures += not isinstance(error, RateLimited | Overloaded)
            return self.policy.is_over(state, failures)

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(Transient),
            wait=self.policy.wait,
            stop=is_over,
            before_sleep=lambda state: self._report(state, request),
            reraise=True,
        )
        return await attempts(attempt)

    def _report(self, state: RetryCallState, request: Request) -> None:
        reason = str(state.outcome.exception()) if state.outcome else ""
        wait = state.upcoming_sleep
        self.record(CallRetried(request.role, request.task, self.name, state.attempt_number, wait, reason))
