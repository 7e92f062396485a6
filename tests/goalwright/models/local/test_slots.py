"""The assignment of calls to the server's slots."""

from __future__ import annotations

import asyncio

import pytest

from goalwright.models.local.serving.slots import Slots, Turn


async def turn_of(slots: Slots, fixed: str) -> Turn:
    async with slots.turn(fixed) as turn:
        return turn


async def test_call_gets_the_slot_that_cached_its_fixed_part() -> None:
    slots = Slots(2)
    assert await turn_of(slots, "planner") == Turn(0, is_read=False)
    assert await turn_of(slots, "skill") == Turn(1, is_read=False)
    assert await turn_of(slots, "planner") == Turn(0, is_read=True)
    assert await turn_of(slots, "planner") == Turn(0, is_read=True)
    assert await turn_of(slots, "other") == Turn(1, is_read=False), "the one that was used longest ago"
    assert await turn_of(slots, "skill") == Turn(0, is_read=False), "the other took its place"


async def test_fixed_part_is_evaluated_once_without_blocking_other_calls() -> None:
    slots = Slots(2)
    async with slots.reading("skill"):
        assert slots.reading("skill").locked()
        assert not slots.reading("other").locked()
    assert not slots.reading("skill").locked()


async def test_no_more_calls_than_slots_are_sent_at_once() -> None:
    slots, at_once, peak = Slots(2), 0, 0

    async def call(number: int) -> None:
        nonlocal at_once, peak
        async with slots.turn(number):
            at_once += 1
            peak = max(peak, at_once)
            await asyncio.sleep(0)
            at_once -= 1

    await asyncio.gather(*map(call, range(6)))
    assert peak == 2


async def test_failed_call_clears_the_cache_of_its_slot() -> None:
    slots = Slots(1)
    with pytest.raises(ValueError, match="broken"):
        async with slots.turn("skill"):
            raise ValueError("broken")
    assert await turn_of(slots, "skill") == Turn(0, is_read=False)
