"""The plan of a run that waits for a person: what a refused change leaves, and what may be changed while it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from planner.approvals import Answer
from planner.errors import RequestRefused
from tests.weft.recorded import replayed, rows, weft
from tests.weft.runs.steps.replanned import Planner, change, llm, plan, run, statuses
from weft.runs.stop import Stop
from weft.traces.timeline import timeline

if TYPE_CHECKING:
    from pathlib import Path

    from executor.history.result import Result

# `send` waits for approval, `fetch` has failed, and `end` waits for `send`.
WAITS = plan(llm("one"), llm("fetch"), llm("send", "one", needs_approval=True), llm("end", "send"), synthesis="short")
GIVEN_UP: list[str | Exception] = [change(give_up="no")]


async def replanned(workspace: Path, planner: Planner, **given: Any) -> Result:
    async with weft(workspace, planner.model) as runtime:
        return await runtime.replan("last", "do it otherwise", **given)


async def answered(workspace: Path, planner: Planner, waiting: Result, answer: Answer | None = None) -> Result:
    async with weft(workspace, planner.model) as runtime:
        return await runtime.resume("last", answers={one.id: answer or Answer() for one in waiting.waiting})


class TestARefusedChange:
    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            (GIVEN_UP, "given up: no"),
            ([change(drop=("one",))], "no valid change in 3 answers"),
            ([RequestRefused("no such model")], "the model gave no answer"),
        ],
    )
    async def test_leaves_a_waiting_run_as_it_was(
        self, workspace: Path, changes: list[str | Exception], why: str
    ) -> None:
        before = await run(workspace, Planner(WAITS))
        assert (before.status, len(before.waiting)) == ("waiting", 1)
        for _ in range(2):
            planner = Planner(WAITS, list(changes))
            refused = await replanned(workspace, planner)
            assert (refused.status, refused.waiting, refused.tasks) == ("waiting", before.waiting, before.tasks)
            assert refused.error is not None
            assert refused.error.startswith(f"the plan was not changed: {why}")
            assert planner.worked == []
        assert timeline(rows(workspace)).spans["send"].status == "waiting"
        planner = Planner(WAITS, GIVEN_UP, fails={})
        result = await answered(workspace, planner, before)
        assert (result.status, result.error, sorted(planner.worked)) == ("done", None, ["end", "fetch", "send"])
        assert {task.id: task.attempts for task in result.tasks} == {"one": 1, "fetch": 2, "send": 1, "end": 1}
        assert timeline(rows(workspace)).spans["send"].attempts == 1

    async def test_does_not_hold_up_an_answer_that_came_after_the_change_was_cut_off(self, workspace: Path) -> None:
        before, stop = await run(workspace, Planner(WAITS, fails={})), Stop()
        stop.set()
        assert (await replanned(workspace, Planner(WAITS, GIVEN_UP), stop=stop)).status == "interrupted"
        planner = Planner(WAITS, GIVEN_UP, fails={})
        result = await answered(workspace, planner, before)
        assert (result.status, result.error, planner.worked) == ("done", None, ["send", "end"])

    async def test_was_a_failure_in_earlier_versions_whose_records_are_replayed(self, workspace: Path) -> None:
        await run(workspace, Planner(WAITS))
        await replanned(workspace, Planner(WAITS, GIVEN_UP))
        *recorded, end = rows(workspace)
        failed = end._replace(body={**end.body, "status": "failed"})
        assert (await replayed(workspace, [*recorded, failed])).drift == ()
        assert statuses((await replayed(workspace, [*recorded, end])).result)["send"] == "pending"
