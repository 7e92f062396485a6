"""One attempt at a task, whose errors become outcomes so that other tasks continue.

All tasks of a schedule share one timer for their time limits: one timer each costs more than scheduling the task.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_executor.approvals.waiting import hold_slot
from goalwright_executor.results.outcome import Cancelled, Done, Failed, Grown, Outcome, Skipped, Unneeded, Waiting
from goalwright_planner.errors import AnswerNeeded, Halted, RecordEnded, TaskDenied
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection


@dataclass(frozen=True, slots=True)
class ScheduleLimits:
    """How many tasks run at a time, and how long each may take."""

    concurrency: int = 16
    task_seconds: float | None = None


async def attempt(work: Awaitable[str | Outcome | Grown], limit: TimeLimit) -> Outcome | Grown:
    """Return the outcome of the work within its time limit. Raises Halted."""
    hold_slot(limit)
    try:
        result = await work
        return Done(result) if isinstance(result, str) else result
    except asyncio.CancelledError:
        if limit.end():
            return Failed(limit.limits.exceeded)
        raise
    except Halted:
        raise
    except RecordEnded as cut:
        return Cancelled(cut.message)
    except AnswerNeeded as needed:
        return Waiting(needed.message)
    except TaskDenied as denied:
        return Skipped(denied.message)
    except GoalwrightError as error:
        return Failed(str(error))
    except Exception as error:  # noqa: BLE001 - an error of one task must not stop the others
        return unexpected(error)
    finally:
        limit.end()


def unexpected(error: Exception) -> Failed:
    """Return the failure for an unexpected exception."""
    return Failed(f"an unexpected error, please report it: {type(error).__name__}: {error}")


async def needed(check: Awaitable[bool]) -> str | Unneeded:
    """Return whether a task is needed, in the form of work to attempt."""
    return "" if await check else Unneeded()


@dataclass(slots=True, eq=False)
class TimeLimit:
    """A task's time limit and its slot; when the time is up, the task is cancelled, as by `asyncio.timeout`.

    While calls of a task wait for a person, its clock stops and its slot is free. The slot is taken again at once when
    the last one is answered, so for a moment more tasks may run than allowed.
    """

    task: asyncio.Task[None] | None  # until its end, because the task's context refers to this limit
    when: float
    limits: TimeLimits
    waiting: int = 0
    left: float = 0.0
    timer: asyncio.TimerHandle | None = None
    was_released: bool = False
    expired: bool = False

    def release(self) -> None:
        """Stop the clock and give up the slot."""
        self.waiting += 1
        if self.waiting == 1:
            self._stop()
            self.was_released = True
            self.left = self.when - self.limits.loop.time()
            self.limits.moved(1)

    def reacquire(self) -> None:
        """Take the slot again, with the remaining time on a separate timer."""
        self.waiting -= 1
        if self.waiting == 0:
            if self.limits.seconds is not None:
                self.when = self.limits.loop.time() + self.left
                self.timer = self.limits.loop.call_at(self.when, self.expire)
            self.limits.moved(-1)

    def expire(self) -> None:
        """Cancel the task, because its time is up."""
        if self.task is not None:
            self.expired = True
            self.task.cancel()

    def end(self) -> bool:
        """End the limit; returns whether it, and nothing else, cancelled the task."""
        task, self.task = self.task, None
        self._stop()
        return self.expired and task is not None and task.uncancel() == 0

    def _stop(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


@dataclass(slots=True)
class TimeLimits:
    """The limits of a schedule's tasks, `seconds` each; `moved` gets +1 for a released slot, -1 for a taken one."""

    seconds: float | None
    moved: Callable[[int], None]
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _running_out: deque[TimeLimit] = field(
        default_factory=deque
    )  # in order of expiry, because all have the same duration
    _timer: asyncio.TimerHandle | None = None

    @property
    def exceeded(self) -> str:
        """The error of a task that took longer."""
        return f"it took longer than {self.seconds:g} s; raise task_timeout, or split the task"

    def begin(self, task: asyncio.Task[None]) -> TimeLimit:
        """Return the limit of a task that starts now."""
        if self.seconds is None:
            return TimeLimit(task, 0.0, self)
        limits = self._running_out
        while limits and limits[0].task is None:
            limits.popleft()
        limit = TimeLimit(task, self.loop.time() + self.seconds, self)
        limits.append(limit)
        if self._timer is None:
            self._timer = self.loop.call_at(limit.when, self._ring)
        return limit

    def close(self) -> None:
        """Stop the timer, when no task runs any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        """Cancel the tasks whose time is up, and set the timer again; released tasks have their own timers."""
        now, limits = self.loop.time(), self._running_out
        while limits and (limits[0].task is None or limits[0].was_released or limits[0].when <= now):
            limit = limits.popleft()
            if not limit.was_released:
                limit.expire()
        self._timer = self.loop.call_at(limits[0].when, self._ring) if limits else None


async def cancelled(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel running tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
