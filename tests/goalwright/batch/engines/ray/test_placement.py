"""The choice of a worker for the next goal."""

from __future__ import annotations

import asyncio

from goalwright.batch.engines.ray.placement import Placement, WorkerState


def placement(workers: int, slots: int = 32) -> Placement[None]:
    states = [WorkerState(number, None, slots) for number in range(workers)]
    for state in states:
        state.connect(f"process-{state.number}", "node")
    return Placement(states)


async def test_goals_are_spread_and_wait_when_workers_are_full() -> None:
    two = placement(2, slots=2)
    workers = [await two.acquire(name, 0) for name in "abcd"]
    assert sorted(state.number for state in workers) == [0, 0, 1, 1]
    waiting = asyncio.ensure_future(two.acquire("e", 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    two.release(workers[2], "c")
    assert await waiting is workers[2]


async def test_goal_with_deaths_runs_with_few_others_then_alone() -> None:
    three = placement(3)
    for number in range(60):
        await three.acquire(f"fresh-{number}", 0)
    alone = asyncio.ensure_future(three.acquire("suspect", 2))
    fresh = asyncio.ensure_future(three.acquire("late", 0))
    await asyncio.sleep(0)
    assert fresh.done(), "others go on, on other workers"
    assert not alone.done()
    reserved = min(three.workers, key=lambda state: len(state.goals))
    for name in list(reserved.goals):
        three.release(reserved, name)
        after = asyncio.ensure_future(three.acquire(f"after-{name}", 0))
        await asyncio.sleep(0)
        assert not after.done() or after.result() is not reserved, "one worker is kept free for it"
    assert await alone is reserved
    assert reserved.goals == {"suspect": 2}
    assert not reserved.can_run(0)
    few = placement(1)
    for number in range(4):
        await few.acquire(f"once-{number}", 1)
    assert not few.workers[0].can_run(0)
    assert not few.workers[0].can_run(1)


async def test_goals_of_small_workers_run_together_after_one_death() -> None:
    for slots in (1, 2, 4):
        few = placement(1, slots)
        for number in range(slots):
            assert (await asyncio.wait_for(few.acquire(f"once-{number}", 1), 1)) is few.workers[0]


async def test_cleared_goal_runs_with_others_again() -> None:
    one = placement(1, slots=2)
    worker = await one.acquire("suspect", 2)
    waiting = asyncio.ensure_future(one.acquire("other", 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    one.clear(worker, "suspect")
    assert await waiting is worker


async def test_held_back_or_lost_worker_gets_no_goals() -> None:
    two = placement(2, slots=4)
    two.workers[0].held_back = "journal"
    assert (two.capacity, [(await two.acquire(name, 0)).number for name in "ab"]) == (4, [1, 1])
    lost = two.workers[1]
    gone = asyncio.ensure_future(lost.lost.wait())
    lost.disconnect()
    await gone
    waiting = asyncio.ensure_future(two.acquire("c", 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    two.workers[0].held_back = ""
    two.dispatch()
    assert (await waiting).number == 0


async def test_cancelled_waiter_takes_no_slot() -> None:
    one = placement(1, slots=1)
    first = await one.acquire("a", 0)
    waiting = asyncio.ensure_future(one.acquire("b", 0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    one.release(first, "a")
    assert first.goals == {}
