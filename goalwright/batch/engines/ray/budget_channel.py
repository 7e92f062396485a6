"""Carries a worker's requests for budget to the batch, which no worker can call: the batch polls for each.

the worker requests and waits → the batch's poll returns the request → its next poll brings the grant
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from goalwright.batch.limits.shared.budget import BudgetGrant, BudgetRequest


class NumberedRequest(NamedTuple):
    """A worker's request, and the number that the grant must have."""

    number: int
    request: BudgetRequest


class NumberedGrant(NamedTuple):
    """What was granted for the request of this number."""

    number: int
    grant: BudgetGrant


@dataclass(slots=True)
class BudgetChannel:
    """A worker's end: one request at a time. The grant for one that was given up is out of date, and dropped."""

    _number: int = 0
    _request: BudgetRequest | None = None
    _grant: asyncio.Future[BudgetGrant] | None = None
    _requested: asyncio.Event = field(default_factory=asyncio.Event)

    async def request(self, request: BudgetRequest) -> BudgetGrant:
        """Send a request, and wait for what is granted."""
        self._number += 1
        self._request, self._grant = request, asyncio.get_running_loop().create_future()
        self._requested.set()
        return await self._grant

    async def poll(self, granted: NumberedGrant | None) -> NumberedRequest:
        """Take what was granted for the last request, and wait for the next one."""
        waiting = self._grant
        if granted is not None and granted.number == self._number and waiting is not None and not waiting.done():
            waiting.set_result(granted.grant)
        while True:
            await self._requested.wait()
            self._requested.clear()
            if self._request is not None and self._grant is not None and not self._grant.done():
                return NumberedRequest(self._number, self._request)
