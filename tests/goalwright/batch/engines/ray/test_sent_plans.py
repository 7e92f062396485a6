"""Which goals of a batch on a cluster wait for another one's plan, which its worker puts on record."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from goalwright.batch.engine import Job
from goalwright.batch.engines.ray.sent_plans import SentPlans
from goalwright.batch.goals import BatchGoal
from goalwright.batch.shared_plans import SharedPlans, StoppedWaiting
from goalwright.runs.goal import BatchPlace
from goalwright.runs.run_id import new_run_id
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.settings import Settings
from goalwright_planner.model import Reply
from tests.fakes import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from goalwright_planner.model import Request


def answer(request: Request) -> Reply:
    if request.role != "decomposer":
        return Reply("done")
    goal = request.messages[-1].content.partition("<goal>\n")[2].partition("\n</goal>")[0]
    return Reply(json.dumps({"tasks": [{"id": "all", "action_type": "llm", "instruction": goal}]}))


def opened(workspace: Path) -> Goalwright:
    return Goalwright(workspace, Settings(model="m", recipes="auto"), open_model=lambda _: ScriptedModel(answer))


@pytest.fixture
async def sent(workspace: Path) -> AsyncIterator[SentPlans]:
    async with opened(workspace) as goalwright:
        yield SentPlans(SharedPlans(goalwright))


def job(number: int, *, begun: bool = False) -> Job:
    goal = BatchGoal(f"g{number}", number, f"Write a short poem about the river number {number}")
    return Job(goal, new_run_id(), lambda _: None, BatchPlace("b", goal.id, 9), begun)


async def taken(sent: SentPlans, wanted: Job, stop: Stop | None = None) -> Job:
    """The job as it is sent; its run then ends at once."""
    async with sent.sharing(wanted, stop or Stop()) as found:
        return found


async def test_a_like_goal_waits_for_the_plan_on_record_and_is_sent_with_it(workspace: Path, sent: SentPlans) -> None:
    first, second = job(1), job(2, begun=True)  # one whose worker died before its first event
    async with sent.sharing(first, Stop()) as lead:
        assert (lead, lead.recipe) == (first, None)
        waiting = asyncio.create_task(taken(sent, second))
        await asyncio.sleep(0)
        assert not waiting.done()
        async with opened(workspace) as worker:  # in another process, as far as the batch knows
            await worker.run(first.asked, run_id=first.run_id)
        async with asyncio.timeout(60):
            follower = await waiting
    assert follower.recipe is not None
    assert (follower.recipe.name, follower.goal.plan is not None) == (first.run_id, True)
    (task,) = (follower.asked.plan or pytest.fail("it has no plan")).tasks
    assert task.instruction == second.goal.text
    assert (follower.run_id, follower.goal.text) == (second.run_id, second.goal.text)


async def test_where_the_first_ends_without_a_plan_the_next_one_leads_and_the_others_wait_for_it(
    sent: SentPlans,
) -> None:
    async with sent.sharing(job(1), Stop()):
        waiting = [asyncio.create_task(taken(sent, job(number))) for number in (2, 3)]
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        assert [one.recipe for one in await asyncio.gather(*waiting)] == [None, None], "each ended without one, too"


async def test_a_batch_that_is_stopped_does_not_wait(sent: SentPlans) -> None:
    stop = Stop()
    async with sent.sharing(job(1), Stop()):
        waiting = asyncio.create_task(taken(sent, job(2), stop))
        await asyncio.sleep(0)
        stop.set()
        async with asyncio.timeout(60):
            with pytest.raises(StoppedWaiting):
                await waiting


async def test_a_run_that_is_continued_leads_unless_the_record_has_its_plan(workspace: Path, sent: SentPlans) -> None:
    begun = job(1, begun=True)
    async with opened(workspace) as worker:
        await worker.run(begun.asked, run_id=begun.run_id)
    async with sent.sharing(begun, Stop()) as continued:
        assert continued == begun
        async with asyncio.timeout(60):
            follower = await taken(sent, job(2))
    assert follower.recipe is not None
    assert follower.recipe.name == begun.run_id


async def test_without_recipes_every_goal_is_sent_as_it_is() -> None:
    one = job(1)
    assert await taken(SentPlans(None), one) is one
