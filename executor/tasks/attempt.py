"""One attempt at a task: whatever it raises becomes an outcome, so that the other tasks continue."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from executor.approvals.parking import holding
from executor.tasks.outcome import Cancelled, Done, Failed, Grown, Outcome, Skipped, Unneeded, Waiting
from planner.errors import AnswerNeeded, Halted, RecordEnded, TaskDenied
from skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def attempt(
    work: Awaitable[str | Done | Grown | Unneeded], seconds: float | None, move: Callable[[int], None]
) -> Outcome | Grown:
    """How the work ended, within its time; `move` counts it as waiting for a person, or no longer. Raises Halted."""
    try:
        async with asyncio.timeout(seconds) as limit:
            with holding(limit, move):
                found = await work
            return Done(found) if isinstance(found, str) else found
    except Halted:
        raise
    except RecordEnded as cut:
        return Cancelled(cut.message)
    except AnswerNeeded as needed:
        return Waiting(needed.message)
    except TaskDenied as denied:
        return Skipped(denied.message)
    except TimeoutError:
        return Failed(f"it took longer than {seconds:g} s; raise task_timeout, or split the task")
    except WeftError as error:
        return Failed(str(error))
    except Exception as error:  # noqa: BLE001 - whatever one task raises, the others continue
        return Failed(f"an unexpected error, please report it: {type(error).__name__}: {error}")
