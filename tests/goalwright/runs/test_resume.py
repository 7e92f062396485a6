"""A run that stopped goes on where it stood, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.stop import Stop
from goalwright_executor.stores.errors import BadStore, RunHeld, StoreFailed, UnknownRun
from goalwright_executor.stores.lease import Handover, myself
from goalwright_planner.errors import RequestRefused
from goalwright_planner.events import Event, PlanMade, RunFinished, SkillsSelected, TaskFinished, TaskStarted
from goalwright_planner.model import Reply
from goalwright_skills.errors import InputError
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import GOAL, SKILL, answering, failing, goalwright, prepare, rows, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.model import Request


@pytest.fixture(autouse=True)
def notes(workspace: Path) -> None:
    prepare(workspace)


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """A workspace for a record that is damaged, which could not be replayed in the end."""
    folder = tmp_path / "spoilt"
    folder.mkdir()
    prepare(folder)
    return folder


async def stopped_when(workspace: Path, seen: Callable[[Event], bool], goal: Goal | str = GOAL) -> None:
    """Run until something was seen, then stop."""
    stop = Stop()
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        result = await runtime.run(goal, record=lambda event: stop.set() if seen(event) else None, stop=stop)
    assert result.status == "interrupted"


async def resumed(workspace: Path, model: ScriptedModel | None = None, **settings: Any) -> tuple[Result, ScriptedModel]:
    model = model or ScriptedModel(answering)
    async with goalwright(workspace, model, **settings) as runtime:
        return await runtime.resume("last"), model


async def test_resume_skips_finished_tasks_and_keeps_totals(workspace: Path) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, TaskFinished) and event.task == "survey")
    done = [row for row in rows(workspace) if row.type == "call_finished"]
    result, model = await resumed(workspace)
    assert (result.status, result.answer) == ("done", "the answer")
    assert len(done) + len(model.asked) == result.usage.calls == 6
    assert result.cost_usd == pytest.approx(0.06)
    assert "survey" not in {request.task for request in model.asked}
    assert {task.id: task.status for task in result.tasks} == dict.fromkeys(("survey", "notes", "brief"), "done")


async def test_resume_reuses_finished_calls_of_unfinished_tasks(workspace: Path) -> None:
    """The second call of `notes` fails; its first call and the file that it read are on record."""

    def once(request: Request) -> Reply | Exception:
        broken = request.task == "notes" and request.messages[-1].role == "tool"
        return RequestRefused("not now") if broken else answering(request)

    async with goalwright(workspace, ScriptedModel(once)) as runtime:
        assert (await runtime.run(GOAL)).status == "partial"
    (workspace / "notes.md").write_text("changed in the meantime", encoding="utf-8")
    result, model = await resumed(workspace)
    assert [request.task for request in model.asked] == ["notes", "brief", None]
    assert "the notes" in model.asked[0].messages[-1].content
    assert result.status == "done"
    attempts = {task.id: task.attempts for task in result.tasks}
    assert attempts == {"survey": 1, "notes": 2, "brief": 1}
    assert [row.body["error"] for row in rows(workspace) if row.type == "call_failed"] == ["not now"]


async def test_skills_added_before_a_resume_change_nothing(workspace: Path, request: pytest.FixtureRequest) -> None:
    request.applymarker(pytest.mark.changes_skills)
    await stopped_when(workspace, lambda event: isinstance(event, PlanMade))
    add_skill(
        workspace, "documenting-apis", "---\nname: documenting-apis\ndescription: Write API documentation.\n---\nx"
    )
    result, model = await resumed(workspace)
    assert "documenting-apis" not in result.skills
    assert all(request.role != "decomposer" for request in model.asked)
    assert "documenting-apis" not in model.asked[0].tools[0].description


@pytest.mark.changes_skills
async def test_a_planned_run_resumes_without_a_deleted_requested_skill(workspace: Path) -> None:
    model = ScriptedModel(failing("notes", error=RequestRefused("no")))
    async with goalwright(workspace, model) as runtime:
        assert (await runtime.run(Goal(GOAL, skills=(SKILL,)))).status == "partial"
    shutil.rmtree(workspace / "skills" / SKILL)
    result, _ = await resumed(workspace)
    assert (result.status, result.answer) == ("done", "the answer")


@pytest.mark.changes_skills
async def test_an_unplanned_run_needs_its_requested_skill(workspace: Path) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, SkillsSelected), Goal(GOAL, skills=(SKILL,)))
    shutil.rmtree(workspace / "skills" / SKILL)
    with pytest.raises(InputError, match=f"there is no skill '{SKILL}'"):
        await resumed(workspace)


async def test_a_run_stopped_by_its_budget_resumes_with_a_higher_one(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering), max_cost=0.02) as runtime:
        result = await runtime.run(GOAL)
    assert result.status == "stopped"
    result, model = await resumed(workspace, max_cost=0.02)
    assert (result.status, model.asked) == ("stopped", [])
    result, model = await resumed(workspace, max_cost=1.0)
    assert result.status == "done"
    assert result.usage.calls == 6


async def test_resuming_a_done_run_returns_its_result(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        first = await runtime.run(GOAL)
    result, model = await resumed(workspace)
    assert result.to_dict() == first.to_dict()
    assert model.asked == []


async def test_observers_of_a_resume_receive_earlier_events(workspace: Path) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, TaskFinished) and event.task == "survey")
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.resume("last", record=record)
    assert isinstance(record.events[0], PlanMade)
    finished = [event.task for event in record.events if isinstance(event, TaskFinished)]
    started = [event.task for event in record.events if isinstance(event, TaskStarted)]
    assert finished.count("survey") == 1
    assert "survey" not in started


async def test_a_failing_observer_does_not_break_a_run(workspace: Path) -> None:
    heard: list[str] = []

    def record(event: Event) -> None:
        heard.append(type(event).__name__)
        if isinstance(event, TaskStarted | RunFinished):
            raise KeyError("spans")

    async with goalwright(workspace, ScriptedModel(answering)) as runtime, asyncio.timeout(60):
        result = await runtime.run(GOAL, record=record)
        store(workspace).claim(result.run_id, replace(myself(), pid=1))
    assert result.status == "done"
    said = "`record` raised KeyError: 'spans' when it received task_started; the run continues"
    assert result.warnings.count(said) == 1
    assert heard.count("TaskStarted") == len(result.tasks), "it still hears of everything"


async def test_two_processes_never_run_the_same_run(workspace: Path) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, PlanMade))
    opened = store(workspace)
    opened.claim(opened.find("last").run_id, myself())
    model = ScriptedModel(answering)
    with pytest.raises(RunHeld):
        await resumed(workspace, model)
    assert model.asked == []
    opened.append([], {}, Handover(myself(), released=[opened.find("last").run_id]))
    opened.close()


async def test_a_run_finished_by_another_process_is_returned(
    workspace: Path,
) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, PlanMade))
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as late:
        claim = late.journal.claim

        def when_it_is_done(run_id: str) -> None:
            asyncio.run(resumed(workspace))
            claim(run_id)

        late.journal.claim = when_it_is_done  # type: ignore[method-assign]
        result = await late.resume("last")
        store(workspace).claim(result.run_id, replace(myself(), pid=1))
    assert (result.status, model.asked) == ("done", [])
    assert rows(workspace)[-1].type == "run_finished"
    assert [row.type for row in rows(workspace)].count("run_resumed") == 1


async def test_a_cancelled_claim_is_released(workspace: Path) -> None:
    await stopped_when(workspace, lambda event: isinstance(event, PlanMade))
    run_id = rows(workspace)[0].run_id
    at_it, go_on = threading.Event(), threading.Event()
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        claim = runtime.journal.claim

        def slowly(run_id: str) -> None:
            at_it.set()
            go_on.wait(120)
            claim(run_id)

        runtime.journal.claim = slowly  # type: ignore[method-assign]
        work = asyncio.ensure_future(runtime.resume("last"))
        await asyncio.to_thread(at_it.wait, 120)
        work.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await work
        store(workspace).claim(run_id, replace(myself(), pid=1))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("UPDATE events SET body = 'no JSON' WHERE type = 'plan_made'", pytest.raises(BadStore)),
        ("DELETE FROM events", pytest.raises(UnknownRun, match="never started")),
    ],
    ids=["a record that cannot be read", "no beginning"],
)
async def test_a_run_that_cannot_continue_is_released(
    spoilt: Path, spoil: str, said: AbstractContextManager[object]
) -> None:
    await stopped_when(spoilt, lambda event: isinstance(event, PlanMade))
    run_id = rows(spoilt)[0].run_id
    with closing(sqlite3.connect(spoilt / ".agents" / "journal.sqlite")) as database, database:
        database.execute(spoil)
    async with goalwright(spoilt, ScriptedModel(answering)) as runtime:
        with said:
            await runtime.resume("last")
        store(spoilt).claim(run_id, replace(myself(), pid=1))


async def test_a_run_is_held_from_its_first_event_until_its_end(workspace: Path) -> None:
    seen: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, PlanMade):
            seen.append(store(workspace).find("last").status)
            with pytest.raises(RunHeld):
                store(workspace).claim(store(workspace).find("last").run_id, replace(myself(), pid=1))

    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        result = await runtime.run(GOAL, record=watch)
        store(workspace).claim(result.run_id, replace(myself(), pid=1))
    assert seen == ["running"]


async def test_a_run_cancelled_at_its_start_is_released(workspace: Path) -> None:
    def cancel(event: Event) -> None:
        work.cancel()

    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        work = asyncio.ensure_future(runtime.run(GOAL, record=cancel))
        with pytest.raises(asyncio.CancelledError):
            await work
    assert store(workspace).find("last").status == "interrupted"
    result, _ = await resumed(workspace)
    assert result.status == "done"


async def test_unknown_runs_are_reported(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        with pytest.raises(UnknownRun, match="no run 'nope'"):
            await runtime.resume("nope")


async def test_a_journal_that_fails_stops_the_run_before_more_is_spent(workspace: Path) -> None:
    model = ScriptedModel(answering)
    async with goalwright(workspace, model, max_concurrency=1) as runtime:
        append = runtime.journal.store.append

        def until_planned(*arguments: object) -> None:
            if len(model.asked) > 1:
                raise StoreFailed("the disk is full", hint="make room")
            append(*arguments)  # type: ignore[arg-type]

        runtime.journal.store.append = until_planned  # type: ignore[method-assign, assignment]
        with pytest.raises(StoreFailed, match="disk is full"):
            await runtime.run(GOAL)
    assert len(model.asked) == 2


async def test_recorded_failures_and_retries_are_kept(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(failing("brief", error=RequestRefused("no")))) as runtime:
        first = await runtime.run(GOAL)
    assert first.status == "partial"
    result, _ = await resumed(workspace, ScriptedModel(failing("brief", error=RequestRefused("no again"))))
    assert result.status == "partial"
    result, _ = await resumed(workspace)
    assert result.status == "done"
    assert [row.body["error"] for row in rows(workspace) if row.type == "call_failed"] == ["no", "no again"]
    assert {task.id: task.attempts for task in result.tasks}["brief"] == 3


async def test_resume_repeats_the_call_that_failed_a_task(workspace: Path) -> None:
    """An empty answer is asked for again twice; when the last is empty too the task fails, and resuming asks once."""

    def empty(request: Request) -> Reply | Exception:
        return Reply("") if request.task == "survey" else answering(request)

    async with goalwright(workspace, ScriptedModel(empty)) as runtime:
        assert (await runtime.run(GOAL)).status == "partial"
    result, model = await resumed(workspace)
    assert result.status == "done"
    assert [request.task for request in model.asked] == ["survey", "brief", None]


async def test_resume_repeats_failed_planning(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(lambda _: Reply("no plan"))) as runtime:
        assert (await runtime.run(GOAL)).status == "failed"
    result, model = await resumed(workspace)
    assert result.status == "done"
    assert sum(request.role == "decomposer" for request in model.asked) == 1


async def test_a_run_left_early_can_be_resumed_by_the_same_process(workspace: Path) -> None:
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        async with runtime.events(GOAL) as events:
            async for event in events:
                if isinstance(event, PlanMade):
                    break
        assert (await runtime.resume("last")).status == "done"
