"""Budget requests of a worker, and their grants."""

from __future__ import annotations

import asyncio

from goalwright.batch.engines.ray.messages import NumberedGrant
from goalwright.batch.engines.ray.worker import BudgetChannel
from goalwright.batch.limits.shared.budget import Amount, BudgetGrant, BudgetRequest


async def test_grant_for_abandoned_request_is_dropped() -> None:
    channel, nothing = BudgetChannel(), Amount()
    asking = asyncio.create_task(channel.request(BudgetRequest("w", nothing, nothing)))
    late = await channel.poll(None)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    again = asyncio.create_task(channel.request(BudgetRequest("w", nothing, nothing, wanted=Amount(1.0))))
    await asyncio.sleep(0)
    request = await channel.poll(NumberedGrant(late.number, BudgetGrant(Amount(9.0))))
    assert (request.request.wanted, again.done()) == (Amount(1.0), False)
    waiting = asyncio.create_task(channel.poll(NumberedGrant(request.number, BudgetGrant(Amount(1.0)))))
    assert (await again).allotted == Amount(1.0)
    assert not waiting.done()
    waiting.cancel()
