"""Results of other runs that are used again: the setting `cache`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import TaskFinished, TaskReused
from goalwright_planner.model import Reply, Request, ToolCall
from goalwright_planner.plan.plan import Plan
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import goalwright, replayed, rows

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

GOAL = "Write about a city"
FACTS = {"id": "facts", "action_type": "llm", "instruction": "Find a city"}
ABOUT = {"id": "about", "action_type": "llm", "instruction": "Write of <<facts.output>>", "depends_on": ["facts"]}
CHECK = {"check": {"ask": "It is a city."}}


def answering(request: Request) -> Reply:
    if request.role == "checker":
        return Reply('{"holds": true, "why": ""}')
    if "read" in request.messages[1].content and request.messages[-1].role != "tool":
        return Reply("", (ToolCall("c1", "ListFiles", "{}"),), finish="tool_calls")
    return Reply(f"{request.role} {request.task}")


async def run(workspace: Path, *tasks: dict[str, Any], **settings: Any) -> tuple[Result, list[Request], Recorder]:
    model, record = ScriptedModel(answering), Recorder()
    plan = Plan.from_dict({"tasks": tasks or [FACTS, ABOUT]})
    async with goalwright(workspace, model, **{"cache": 1.0, **settings}) as runtime:
        return await runtime.run(Goal(GOAL, plan=plan), record=record), model.asked, record


async def test_the_same_tasks_of_another_run_are_not_asked_again(workspace: Path) -> None:
    first, asked, _ = await run(workspace)
    assert len(asked) == 2
    second, asked, record = await run(workspace)
    assert asked == []
    assert (second.status, second.answer, second.usage.calls) == ("done", first.answer, 0)
    assert record.of(TaskReused) == [
        TaskReused("facts", "task facts", "cache"),
        TaskReused("about", "task about", "cache"),
    ]
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_task_names_do_not_matter(workspace: Path) -> None:
    await run(workspace, FACTS)
    second, asked, _ = await run(workspace, FACTS | {"id": "place"})
    assert (second.answer, asked) == ("task facts", [])


async def test_the_setting_is_needed_to_use_results_not_to_provide_them(workspace: Path) -> None:
    await run(workspace, cache=None)
    _, asked, _ = await run(workspace, cache=None)
    assert len(asked) == 2
    _, asked, _ = await run(workspace)
    assert asked == []


@pytest.mark.parametrize(
    "changed",
    [
        {"instruction": "Find a town"},
        {"title": "A city"},
        {"output_schema": {"type": "string"}},
        CHECK,
    ],
)
async def test_a_changed_request_is_not_reused(workspace: Path, changed: dict[str, Any]) -> None:
    await run(workspace, FACTS)
    _, asked, record = await run(workspace, FACTS | changed)
    assert asked != []
    assert record.of(TaskReused) == []


async def test_another_model_is_asked_again(workspace: Path) -> None:
    opened: list[ScriptedModel] = []

    def opening(name: str) -> ScriptedModel:
        opened.append(ScriptedModel(answering, name))
        return opened[-1]

    settings = Settings(model="one", models={"other": "two"}, cache=1.0)
    async with Goalwright(workspace, settings, open_model=opening) as runtime:
        for task in (FACTS, FACTS | {"model": "other"}, FACTS, FACTS | {"model": "other"}):
            await runtime.run(Goal(GOAL, plan=Plan.from_dict({"tasks": [task]})))
    assert sorted((one.name, len(one.asked)) for one in opened if one.asked) == [("one", 1), ("two", 1)]


async def test_a_checked_result_stays_checked(workspace: Path) -> None:
    await run(workspace, FACTS | CHECK)
    assert (await run(workspace, FACTS | CHECK))[1] == []
    stricter = {"check": {"ask": "It is a large city."}}
    assert len((await run(workspace, FACTS | stricter))[1]) == 2


async def test_a_result_that_tools_were_called_for_is_not_used(workspace: Path) -> None:
    task = FACTS | {"instruction": "Find a city; read the files"}
    _, asked, record = await run(workspace, task)
    (finished,) = record.of(TaskFinished)
    assert isinstance(finished, TaskFinished)
    assert (len(asked), finished.key) == (2, "")
    assert len((await run(workspace, task))[1]) == 2


async def test_reuse_does_not_renew_the_age(workspace: Path) -> None:
    await run(workspace, FACTS)
    _, _, record = await run(workspace, FACTS)
    (finished,) = record.of(TaskFinished)
    assert isinstance(finished, TaskFinished)
    assert (finished.output, finished.key) == ("task facts", "")


async def test_an_old_result_is_not_used(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await run(workspace, FACTS)
    monkeypatch.setattr("goalwright.runs.stored.kept_results.time.time_ns", lambda: 2_000_000_000 * 10**9)
    assert len((await run(workspace, FACTS))[1]) == 1


async def test_equal_tasks_of_one_run_are_each_asked(workspace: Path) -> None:
    _, asked, _ = await run(workspace, FACTS, FACTS | {"id": "again"})
    assert len(asked) == 3, "two tasks, and the answer"


async def test_a_failed_result_is_not_used(workspace: Path) -> None:
    failing = ScriptedModel(lambda request: Reply("prose"))
    plan = Plan.from_dict({"tasks": [FACTS | {"output_schema": {"type": "object"}}]})
    async with goalwright(workspace, failing, cache=1.0, max_replans=0) as runtime:
        assert (await runtime.run(Goal(GOAL, plan=plan))).status == "failed"
    _, asked, record = await run(workspace, FACTS | {"output_schema": {"type": "object"}}, max_replans=0)
    assert (len(asked), record.of(TaskReused)) == (3, [])


async def test_a_resumed_run_keeps_reused_results(workspace: Path) -> None:
    await run(workspace, FACTS)
    stopped, asked, _ = await run(workspace, max_tokens=1)
    assert stopped.status in ("stopped", "done")
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        resumed = await runtime.resume(stopped.run_id)
    assert resumed.status == "done"
    assert [request.task for request in (*asked, *model.asked)] == ["about"]


async def test_an_imported_result_is_not_used(workspace: Path, tmp_path: Path) -> None:
    from goalwright.settings.paths import Paths
    from goalwright.traces.transfer import delete_runs, import_runs
    from goalwright_executor.journal import trace_file
    from tests.goalwright.recorded import store

    first, _, _ = await run(workspace, FACTS)
    lines = [json.loads(text) | {"run_id": "stranger"} for text in trace_file.lines(rows(workspace))]
    (tmp_path / "theirs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    opened = store(workspace)
    paths = Paths.of(workspace, {})
    import_runs([tmp_path / "theirs.jsonl"], opened, paths)
    delete_runs([first.run_id], opened, paths)
    opened.close()
    assert len((await run(workspace, FACTS))[1]) == 1


async def test_paths_in_reused_results_point_to_their_run(workspace: Path) -> None:
    model = ScriptedModel(lambda request: Reply(f"see {workspace}/.agents/runs/R/artifacts/x.md, {workspace}/a.md"))
    plan = Plan.from_dict({"tasks": [FACTS]})
    async with goalwright(workspace, model, cache=1.0) as runtime:
        first = await runtime.run(Goal(GOAL, plan=plan))
        second = await runtime.run(Goal(GOAL, plan=plan))
    assert first.answer == second.answer
    assert len(model.asked) == 1
