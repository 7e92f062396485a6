"""Time limits on one shared timer, and other cancellations."""

from __future__ import annotations

import asyncio

import pytest

from goalwright_executor.scheduling.attempt import TimeLimits


def ignore(_: int) -> None:
    """Nobody counts places here."""


async def work(limits: TimeLimits, seconds: float) -> str:
    task: asyncio.Task[None] | None = asyncio.current_task()
    assert task is not None
    limit = limits.begin(task)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if limit.end():
            return "too slow"
        raise
    finally:
        limit.end()
    return "done"


async def test_each_task_has_its_own_time_limit() -> None:
    limits = TimeLimits(0.4, ignore)
    first = [asyncio.create_task(work(limits, seconds)) for seconds in (0.0, 5.0)]
    await asyncio.sleep(0.25)
    second = [asyncio.create_task(work(limits, seconds)) for seconds in (0.0, 0.25, 5.0)]
    assert await asyncio.gather(*first, *second) == ["done", "too slow", "done", "done", "too slow"]
    assert all(task.cancelling() == 0 for task in (*first, *second))
    limits.close()


async def test_cancellation_wins_over_expired_time_limit() -> None:
    limits = TimeLimits(60, ignore)
    running = asyncio.create_task(work(limits, 5.0))
    await asyncio.sleep(0)
    running.cancel()
    next(iter(limits._running_out)).expire()
    with pytest.raises(asyncio.CancelledError):
        await running
    limits.close()


async def test_ended_limits_leave_no_timer() -> None:
    limits = TimeLimits(60, ignore)
    for _ in range(3):
        await asyncio.create_task(work(limits, 0.0))
    assert len(limits._running_out) == 1
    limits.close()
    assert limits._timer is None
