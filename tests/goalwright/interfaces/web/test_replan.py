"""A plan changed by instruction over HTTP: the same run continues with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.test_runs import ended, started
from tests.goalwright.runs.steps.replanned import Planner, change, llm, plan

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_run_continues_with_the_requested_plan_change(workspace: Path) -> None:
    planner = Planner(plan(llm("one")), [change(llm("two", "one"))], {})
    async with asking(workspace, planner.model) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        answer = await asked.post(f"/runs/{run_id}/replan", json={"text": "Do one thing more"})
        assert (answer.status_code, answer.json()) == (202, {"run_id": run_id})
        shown = await ended(asked, run_id)
        assert [span["id"] for span in shown["spans"] if not span["id"].startswith("(")] == ["one", "two"]
        assert planner.worked == ["one", "two"]
        empty = await asked.post(f"/runs/{run_id}/replan", json={"text": " "})
        assert empty.status_code == 400
        assert (await asked.post("/runs/nothing/replan", json={"text": "x"})).status_code == 404
