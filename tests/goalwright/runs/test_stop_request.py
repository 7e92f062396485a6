"""A run is stopped by another process, through the journal: that run alone, or the batch that it belongs to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.stop import Stop
from goalwright_planner.events import CallStarted
from tests.goalwright.recorded import GOAL, answering, goalwright, prepare, store

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.stores.lease import StopRequest
    from goalwright_planner.events import Event
    from goalwright_planner.model import Reply, Request


class Slow:
    """A model that never finishes a task."""

    name = "slow"

    async def complete(self, request: Request) -> Reply:
        if request.role == "task":
            await asyncio.sleep(60)
        return answering(request)


@pytest.mark.parametrize(("asked", "all_stop"), [("stop", False), ("stop_batch", True)])
async def test_a_stop_request_in_the_journal_stops_a_run(workspace: Path, asked: StopRequest, all_stop: bool) -> None:
    prepare(workspace)
    stop, begun = Stop(), asyncio.Event()

    def see(event: Event) -> None:
        if isinstance(event, CallStarted) and event.role == "task":
            begun.set()

    async with goalwright(workspace, Slow()) as runtime:  # type: ignore[arg-type]
        running = asyncio.ensure_future(runtime.run(GOAL, record=see, stop=stop))
        await begun.wait()
        other = store(workspace)  # as another process has it open
        other.request_stop(other.find("last").run_id, asked)
        result = await asyncio.wait_for(running, 20)
        assert result.status == "interrupted"
        assert stop.is_set() is all_stop
        assert (other.find("last").status, other.stop_requests()) == ("interrupted", {})
        other.close()
