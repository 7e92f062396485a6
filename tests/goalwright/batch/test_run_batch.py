"""`run_batch`, which runs a batch from a program like `goalwright batch`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright import (
    BatchGoal,
    BatchObserver,
    BatchOptions,
    InputError,
    SetupError,
    TaskFinished,
    TaskStarted,
    run_batch,
)
from goalwright.batch.run_batch import open_batch
from goalwright.settings.settings import Settings
from goalwright_executor.stores.lease import Handover, myself
from goalwright_planner.events import CallRetried
from tests.goalwright.recorded import store
from tests.openai_server import Call, Drop, Fail, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_planner.events import Event

MODEL = "openai/test-model"
PLAN = {"tasks": [{"id": "only", "action_type": "llm", "instruction": "do it"}]}


class Listener(BatchObserver):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.goals: list[str] = []
        self.events: list[Event] = []

    def ended(self, goal: BatchGoal, began: float) -> None:
        self.goals.append(goal.id)

    def note(self, event: Event) -> None:
        self.events.append(event)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_goals_in_memory_run_and_notify_the_observer(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    serve(scripted(PLAN))
    listener, output = Listener(), workspace / "out.jsonl"
    goals: list[str | Mapping[str, Any]] = [
        "Write the first",
        {"id": "second", "goal": "Write <<what>>", "vars": {"what": "the second"}},
    ]
    report = await run_batch(goals, output, model=MODEL, workspace=workspace, observer=listener)
    assert (report.stopped, report.summary.all_done, report.output) == (None, True, output)
    assert {row["id"]: row["goal"] for row in rows(output)} == {
        "line-1": "Write the first",
        "second": "Write the second",
    }
    assert sorted(listener.goals) == ["line-1", "second"]
    assert sum(isinstance(event, TaskFinished) for event in listener.events) == 2
    assert report.to_dict()["done"] == 2


async def test_batch_is_resumed_and_failed_goals_are_retried(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    broken = True

    def task(call: Call) -> Say | Fail:
        return Fail(400, "no") if broken and "[bad]" in call.user else Say("fine")

    server = serve(scripted(PLAN, task=task))
    file, output = workspace / "goals.txt", workspace / "out.jsonl"
    file.write_text("a good goal\na [bad] goal\n", encoding="utf-8")
    first = await run_batch(file, output, model=MODEL, workspace=workspace)
    assert (first.summary.all_done, first.summary.statuses["failed"]) == (False, 1)
    with pytest.raises(InputError, match="exists already"):
        await run_batch(file, output, model=MODEL, workspace=workspace)
    broken = False
    server.calls.clear()
    options = BatchOptions(resume=True, retry_errors=True)
    second = await run_batch(str(file), output, model=MODEL, workspace=workspace, options=options)
    assert (second.summary.skipped, second.summary.all_done) == (1, True)
    assert sorted(row["status"] for row in rows(output)) == ["done", "done"]
    assert all("[bad]" in call.user for call in server.calls)


async def test_journal_has_the_batch_of_a_resumed_run(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    serve(scripted(PLAN))
    output = workspace / "my answers.jsonl"
    await run_batch(["one", "two"], output, model=MODEL, workspace=workspace, options=BatchOptions(limit=1))
    await run_batch(["one", "two"], output, model=MODEL, workspace=workspace, options=BatchOptions(resume=True))
    journal = store(workspace)
    (batch,) = {run.batch for run in journal.summaries()}
    assert batch is not None
    assert batch.startswith("my-answers-")
    assert {run.batch_goal for run in journal.summaries(batch=batch)} == {"line-1", "line-2"}
    sizes = [row.body["batch_size"] for row in journal.rows_of_all(("run_started",))]
    assert sizes == [1, 2]
    journal.close()


async def test_batch_without_runs_file_finds_runs_in_journal(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    broken = True

    def task(call: Call) -> Say | Drop:
        return Drop() if broken and "[late]" in call.user else Say("fine")

    class Stopping(BatchObserver):
        def note(self, event: Event) -> None:
            if isinstance(event, CallRetried):
                journal.request_stop(event_run(), "stop_batch")

    def event_run() -> str:
        return next(run.run_id for run in journal.summaries() if run.goal == "a [late] goal")

    server = serve(scripted(PLAN, task=task))
    goals, output = ["a good goal", "a [late] goal"], workspace / "out.jsonl"
    await run_batch(goals[:1], workspace / "first.jsonl", model=MODEL, workspace=workspace)  # makes the journal
    journal = store(workspace)
    options = BatchOptions(jobs=1)
    first = await run_batch(goals, output, model=MODEL, workspace=workspace, options=options, observer=Stopping())
    assert first.stopped == "interrupted"
    late = event_run()
    (workspace / "out.jsonl.runs").unlink()  # as on another machine
    broken = False
    server.calls.clear()
    await run_batch(goals, output, model=MODEL, workspace=workspace, options=BatchOptions(resume=True))
    assert {row["goal"]: row["status"] for row in rows(output)} == dict.fromkeys(goals, "done")
    assert [row["run_id"] for row in rows(output)][1] == late
    assert not server.asked("decomposer"), "the plan was on record"
    journal.close()


async def test_runs_found_in_journal_are_recorded(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    broken = True

    def task(call: Call) -> Say | Drop | Fail:
        if "[bad]" in call.user:
            return Fail(400, "no")
        return Drop() if broken and "[late]" in call.user else Say("fine")

    class Stopping(BatchObserver):
        def note(self, event: Event) -> None:
            if isinstance(event, CallRetried):
                for run in journal.summaries(status=("running",)):
                    journal.request_stop(run.run_id, "stop_batch")

    server = serve(scripted(PLAN, task=task))
    goals, output = ["a [bad] goal", "a [late] goal", "another [late] goal"], workspace / "out.jsonl"
    await run_batch(["one"], workspace / "first.jsonl", model=MODEL, workspace=workspace)  # makes the journal
    journal = store(workspace)
    at_once, again = BatchOptions(jobs=1), BatchOptions(resume=True, retry_errors=True)
    first = await run_batch(goals, output, model=MODEL, workspace=workspace, options=at_once, observer=Stopping())
    assert (first.stopped, first.summary.statuses["failed"]) == ("interrupted", 1)
    late = next(run.run_id for run in journal.summaries() if run.goal == goals[1])
    (workspace / "out.jsonl.runs").unlink()  # as on another machine
    second = await run_batch(goals, output, model=MODEL, workspace=workspace, options=again, observer=Stopping())
    assert second.stopped == "interrupted"
    broken = False
    server.calls.clear()
    await run_batch(goals, output, model=MODEL, workspace=workspace, options=again)
    assert {row["goal"]: row["run_id"] for row in rows(output)}[goals[1]] == late
    assert len([run for run in journal.summaries() if run.goal == goals[1]]) == 1, "it began once"
    journal.close()


async def test_changed_goal_does_not_use_the_old_run(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    broken = False

    def task(call: Call) -> Say | Fail:
        return Fail(400, "no") if broken else Say(call.user.partition("<goal>\n")[2].partition("\n</goal>")[0])

    serve(scripted(PLAN, task=task))
    output = workspace / "out.jsonl"
    same = {"id": "same", "goal": "the same"}
    before: list[str | Mapping[str, Any]] = [{"id": "a", "goal": "the old a"}, {"id": "b", "goal": "the old b"}, same]
    after: list[str | Mapping[str, Any]] = [{"id": "a", "goal": "the new a"}, {"id": "b", "goal": "the new b"}, same]
    await run_batch(before, output, model=MODEL, workspace=workspace)
    broken = True
    changed = BatchOptions(jobs=1, resume=True, rerun_changed=True, max_failures=0)
    stopped = await run_batch(after, output, model=MODEL, workspace=workspace, options=changed)
    assert (stopped.stopped, {row["id"] for row in rows(output)}) == ("failures", {"a", "same"})
    broken = False
    await run_batch(after, output, model=MODEL, workspace=workspace, options=BatchOptions(resume=True))
    (b,) = [row for row in rows(output) if row["id"] == "b"]
    assert (b["goal"], b["answer"]) == ("the new b", "the new b")


async def test_individually_stopped_goal_can_be_resumed(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    waits = True
    serve(scripted(PLAN, task=lambda call: Say("late", after=30.0 if waits and "[long]" in call.user else 0.0)))

    class Stopping(BatchObserver):
        def note(self, event: Event) -> None:
            if isinstance(event, TaskStarted):
                for run in journal.summaries(status=("running",)):
                    if "[long]" in run.goal:
                        journal.request_stop(run.run_id, "stop")

    goals, output = ["a [long] goal", "a short goal"], workspace / "out.jsonl"
    await run_batch(["one"], workspace / "first.jsonl", model=MODEL, workspace=workspace)  # makes the journal
    journal = store(workspace)
    report = await asyncio.wait_for(run_batch(goals, output, model=MODEL, workspace=workspace, observer=Stopping()), 25)
    assert (report.stopped, report.to_dict()["left"]) == ("interrupted", 1)
    assert [row["goal"] for row in rows(output)] == ["a short goal"], "the others go on"
    assert (workspace / "out.jsonl.runs").exists()
    waits = False
    done = await run_batch(goals, output, model=MODEL, workspace=workspace, options=BatchOptions(resume=True))
    assert (done.stopped, done.summary.all_done, len(rows(output))) == (None, True, 2)
    journal.close()


async def test_goal_waits_for_a_run_held_elsewhere(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    waits = False
    server = serve(scripted(PLAN, task=lambda _: Say("late", after=30.0 if waits else 0.0)))
    other, heard = replace(myself(), host="elsewhere"), list[str]()

    class Stopping(BatchObserver):
        def note(self, event: Event) -> None:
            if isinstance(event, TaskStarted):
                journal.request_stop(run(), "stop_batch")

    class Releasing(BatchObserver):
        def say(self, text: str) -> None:
            heard.append(text)
            journal.append([], {}, Handover(other, released=[run()]))

    def run() -> str:
        (found,) = [one.run_id for one in journal.summaries() if one.goal == "long"]
        return found

    goals, output, again = ["long"], workspace / "out.jsonl", BatchOptions(resume=True)
    await run_batch(["one"], workspace / "first.jsonl", model=MODEL, workspace=workspace)  # makes the journal
    waits, journal = True, store(workspace)
    first = run_batch(goals, output, model=MODEL, workspace=workspace, observer=Stopping())
    assert (await asyncio.wait_for(first, 25)).stopped == "interrupted"
    journal.claim(run(), other)
    waits, begun = False, len(server.calls)
    with (
        open_batch(goals, output, workspace=workspace, settings=Settings(model=MODEL), options=again) as batch,
        batch.locked(),
    ):

        class Leaving(BatchObserver):
            def say(self, text: str) -> None:
                batch.stop_now()

        assert ((await batch.run(Leaving())).stopped, output.read_text(encoding="utf-8")) == ("interrupted", "")
    report = await run_batch(goals, output, model=MODEL, workspace=workspace, options=again, observer=Releasing())
    assert (report.summary.all_done, len(heard), len(server.calls) > begun) == (True, 1, True)
    assert "waits: run" in heard[0]
    assert "is in use by process" in heard[0]
    assert [row["run_id"] for row in rows(output)] == [run()]
    journal.close()


async def test_batch_is_stopped_by_another_process(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    serve(scripted(PLAN, task=lambda _: Say("late", after=30.0)))
    begun = asyncio.Event()

    class Waiting(BatchObserver):
        def note(self, event: Event) -> None:
            if isinstance(event, TaskStarted):
                begun.set()

    goals, output = ["one", "two", "three"], workspace / "out.jsonl"
    options = BatchOptions(jobs=2)
    running = asyncio.ensure_future(
        run_batch(goals, output, model=MODEL, workspace=workspace, options=options, observer=Waiting())
    )
    await begun.wait()
    journal = store(workspace)
    held = [run.run_id for run in journal.summaries(status=("running",))]
    journal.request_stop(held[0], "stop_batch")
    report = await asyncio.wait_for(running, 25)
    assert (report.stopped, report.to_dict()["left"]) == ("interrupted", 3)
    assert {run.status for run in journal.summaries()} == {"interrupted"}
    journal.close()


async def test_spent_budget_stops_the_batch(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    serve(scripted(PLAN))
    options = BatchOptions(jobs=1, max_tokens=20)
    report = await run_batch(
        ["one", "two", "three"], workspace / "o.jsonl", model=MODEL, workspace=workspace, options=options
    )
    assert (report.stopped, report.to_dict()["left"] > 0) == ("budget", True)


async def test_invalid_goals_models_and_options_are_refused_first(workspace: Path) -> None:
    output = workspace / "out.jsonl"
    with pytest.raises(InputError, match=r"goals cannot be run:\n  line 2: 'goal' is missing"):
        await run_batch(["fine", {"id": "x"}], output, model=MODEL, workspace=workspace)
    with pytest.raises(InputError, match="goal 1 is not JSON"):
        await run_batch([{"goal": "x", "vars": {"a": object()}}], output, model=MODEL, workspace=workspace)
    with pytest.raises(SetupError, match=r"no key"):
        await run_batch(["fine"], output, model=MODEL, workspace=workspace)
    with pytest.raises(InputError, match="no such goal file"):
        await run_batch("gone.jsonl", output, model=MODEL, workspace=workspace)
    assert not output.exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"jobs": 0}, "jobs must be above 0, not 0"),
        ({"rpm": -1.0, "max_cost": 0.0}, "rpm must be above 0, not -1.0; max_cost must be above 0"),
        ({"retry_errors": True}, "need resume"),
    ],
)
def test_options_report_all_faults(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        BatchOptions(**given)
