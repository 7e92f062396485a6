"""Which worker gets the next goal."""

from __future__ import annotations

import asyncio

from weft.batch.engines.ray.placement import Placement, Seat


def placement(workers: int, slots: int = 32) -> Placement[None]:
    seats = [Seat(number, None, slots) for number in range(workers)]
    for seat in seats:
        seat.open(f"process-{seat.number}", "node")
    return Placement(seats)


async def test_goals_are_spread_and_wait_where_all_workers_are_full() -> None:
    two = placement(2, slots=2)
    seats = [await two.enter(name, 0) for name in "abcd"]
    assert sorted(seat.number for seat in seats) == [0, 0, 1, 1]
    waiting = asyncio.ensure_future(two.enter("e", 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    two.leave(seats[2], "c")
    assert await waiting is seats[2]


async def test_a_goal_whose_workers_died_runs_with_few_others_then_alone() -> None:
    three = placement(3)
    for number in range(60):
        await three.enter(f"fresh-{number}", 0)
    alone = asyncio.ensure_future(three.enter("suspect", 2))
    fresh = asyncio.ensure_future(three.enter("late", 0))
    await asyncio.sleep(0)
    assert fresh.done(), "others go on, on other workers"
    assert not alone.done()
    kept = min(three.seats, key=lambda seat: len(seat.goals))
    for name in list(kept.goals):
        three.leave(kept, name)
        after = asyncio.ensure_future(three.enter(f"after-{name}", 0))
        await asyncio.sleep(0)
        assert not after.done() or after.result() is not kept, "one worker is kept free for it"
    assert await alone is kept
    assert kept.goals == {"suspect": 2}
    assert not kept.takes(0)
    few = placement(1)
    for number in range(4):
        await few.enter(f"once-{number}", 1)
    assert not few.seats[0].takes(0)
    assert not few.seats[0].takes(1)


async def test_a_worker_that_is_held_back_or_lost_gets_nothing() -> None:
    two = placement(2, slots=4)
    two.seats[0].held_back = "journal"
    assert (two.room, [(await two.enter(name, 0)).number for name in "ab"]) == (4, [1, 1])
    lost = two.seats[1]
    gone = asyncio.ensure_future(lost.gone.wait())
    lost.close()
    await gone
    waiting = asyncio.ensure_future(two.enter("c", 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    two.seats[0].held_back = ""
    two.look()
    assert (await waiting).number == 0


async def test_who_no_longer_waits_takes_no_place() -> None:
    one = placement(1, slots=1)
    first = await one.enter("a", 0)
    waiting = asyncio.ensure_future(one.enter("b", 0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    one.leave(first, "a")
    assert first.goals == {}
