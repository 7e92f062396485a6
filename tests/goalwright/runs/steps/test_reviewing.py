"""A plan that is shown before it runs, as programs meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from goalwright_skills.errors import InputError
from tests.fakes import Recorder
from tests.goalwright.recorded import UNSURE_GOAL, goalwright
from tests.goalwright.runs.steps.replanned import Planner, changed, llm, plan, statuses

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

TWO = plan(llm("one"), llm("two", "one"))


async def test_the_reviewed_plan_is_run(workspace: Path) -> None:
    planner, seen = Planner(TWO), Recorder()

    async def shorter(found: Plan) -> Plan:
        assert planner.worked == []
        return replace(found, tasks=found.tasks[:1])

    async with goalwright(workspace, planner.model) as runtime:
        result = await runtime.run(UNSURE_GOAL, review=shorter, record=seen)
    assert (result.status, statuses(result), planner.worked) == ("done", {"one": "done"}, ["one"])
    assert [(one["cause"], one["dropped"]) for one in changed(workspace)] == [("person", ["two"])]


async def test_an_invalid_edit_is_refused_and_the_plan_is_kept(workspace: Path) -> None:
    planner = Planner(TWO)

    async def broken(found: Plan) -> Plan:
        return replace(found, tasks=found.tasks[1:])

    async with goalwright(workspace, planner.model) as runtime:
        with pytest.raises(InputError, match="depends on 'one', which is dropped"):
            await runtime.run(UNSURE_GOAL, review=broken)
        result = await runtime.resume("last")
    assert (result.status, planner.worked) == ("done", ["one", "two"])


async def test_a_resume_reviews_a_plan_that_has_not_begun(workspace: Path) -> None:
    planner, shown = Planner(TWO, fails={"two": "not today"}), []

    async def no(found: Plan) -> None:
        shown.append([task.id for task in found.tasks])

    async def yes(found: Plan) -> Plan:
        await no(found)
        return found

    async with goalwright(workspace, planner.model, max_replans=0) as runtime:
        await runtime.run(UNSURE_GOAL, review=no)
        again = await runtime.resume("last", review=no)
        assert (again.status, planner.worked) == ("interrupted", [])
        await runtime.resume("last", review=yes)
        assert (shown, planner.worked[0]) == ([["one", "two"]] * 3, "one")
        await runtime.resume("last", review=no)
    assert len(shown) == 3, "its tasks had begun"


async def test_declining_a_plan_interrupts_the_run(workspace: Path) -> None:
    planner = Planner(TWO)

    async def no(_: Plan) -> None:
        return None

    async with goalwright(workspace, planner.model) as runtime:
        result = await runtime.run(UNSURE_GOAL, review=no)
        assert (result.status, result.error) == ("interrupted", "the plan was not run: it was declined in review")
        assert planner.worked == []
        again = await runtime.resume("last")
    assert (again.status, planner.worked) == ("done", ["one", "two"])
