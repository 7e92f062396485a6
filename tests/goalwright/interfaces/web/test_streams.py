"""Event streams over a real server: a run of another process is streamed exactly, also across a reconnect."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.web import streams
from goalwright.interfaces.web.site import Site
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import events, make_site, serving
from tests.goalwright.recorded import GOAL, answering, prepare

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

RUN = "20260101T000000000-aaaaaa"
WRITER = """
import sys, time
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from pathlib import Path

store, run = SqliteStore(Path(sys.argv[1])), sys.argv[2]
at = "2026-01-01T00:00:00.000000Z"
started = {"run_id": run, "goal": "g", "workspace": "/w", "settings": {}}
running = RunSummary(run, "g", "running", at)
store.append([Row(run, 1, at, "run_started", started)], {run: running}, Handover(myself(), taken=[run]))
print("begun", flush=True)
for seq in range(2, 60):
    store.append([Row(run, seq, at, "warned", {"message": f"number {seq}"})], {})
    time.sleep(0.005)
if sys.argv[3] == "end":
    ended = {run: RunSummary(run, "g", "done", at)}
    row = Row(run, 60, at, "run_finished", {"status": "done", "answer": "a"})
    store.append([row], ended, Handover(myself(), released=[run]))
else:
    print("waiting", flush=True)
    time.sleep(60)
"""


def elsewhere(workspace: Path, then: str) -> subprocess.Popen[str]:
    """Another process that writes a run."""
    (workspace / ".agents").mkdir(exist_ok=True)
    command = [sys.executable, "-c", WRITER, str(workspace / ".agents" / "journal.sqlite"), RUN, then]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)


@pytest.mark.changes_skills  # there is nothing to replay in what the writer wrote
async def test_a_run_of_another_process_is_streamed_exactly_across_reconnects(workspace: Path) -> None:
    with elsewhere(workspace, "end") as writing:
        assert writing.stdout is not None
        await asyncio.to_thread(writing.stdout.readline)
        async with serving(make_site(workspace)) as (_, asked):
            seen: list[int] = []
            last, finished = 0, False
            while not finished:
                headers = {"last-event-id": str(last)} if last else {}
                async with asked.stream("GET", f"/runs/{RUN}/events?after=0", headers=headers) as response:
                    assert response.headers["content-type"].startswith("text/event-stream")
                    count = 0
                    async for event in events(response):
                        if event.id:
                            last = int(event.id)
                            seen.append(last)
                            count += 1
                        if event.type == "run_finished":
                            finished = True
                        if count == 17:  # the connection breaks
                            break
            assert seen == list(range(1, 61))
            after = [event async for event in _all(asked, f"/runs/{RUN}/events?after=58")]
            assert [event.id for event in after if event.id] == ["59", "60"]
            assert after[-1].data == {"run_id": RUN, "status": "done", "held_by": None}


async def _all(asked: httpx.AsyncClient, path: str) -> Any:
    """Every event of a stream that ends."""
    async with asked.stream("GET", path) as response:
        async for event in events(response):
            yield event


@pytest.mark.changes_skills
async def test_the_final_status_follows_the_last_events(workspace: Path) -> None:
    (workspace / ".agents").mkdir()
    journal = SqliteStore(workspace / ".agents" / "journal.sqlite")
    at = "2026-01-01T00:00:00.000000Z"
    started = {"run_id": RUN, "goal": "g", "workspace": "/w", "settings": {}}
    running = {RUN: RunSummary(RUN, "g", "running", at)}
    journal.append([Row(RUN, 1, at, "run_started", started)], running, Handover(myself(), taken=[RUN]))

    class EndsMeanwhile(Site):
        def run_status(self, run_id: str) -> dict[str, Any] | None:
            """Called after a read; end the run just before it."""
            if journal.find(RUN).status == "running":
                last = Row(RUN, 2, at, "run_finished", {"status": "done", "answer": "a"})
                journal.append([last], {RUN: RunSummary(RUN, "g", "done", at)}, Handover(myself(), released=[RUN]))
            return super().run_status(run_id)

    async with serving(EndsMeanwhile(workspace)) as (_, asked):
        kinds = [event.type async for event in _all(asked, f"/runs/{RUN}/events")]
    journal.close()
    assert kinds == ["run_started", "run_finished", "run_status"]


@pytest.mark.changes_skills
async def test_the_run_of_a_killed_process_is_reported_as_interrupted(workspace: Path) -> None:
    with elsewhere(workspace, "stay") as writing:
        assert writing.stdout is not None
        await asyncio.to_thread(writing.stdout.readline)
        await asyncio.to_thread(writing.stdout.readline)
        async with serving(make_site(workspace)) as (_, asked), asyncio.timeout(120):
            statuses = []
            async with asked.stream("GET", f"/runs/{RUN}/events") as response:
                async for event in events(response):
                    if event.type == "run_status":
                        statuses.append((event.data["status"], event.data["held_by"]))
                        if len(statuses) == 1:
                            writing.send_signal(signal.SIGKILL)
                            await asyncio.to_thread(writing.wait)
            assert statuses == [("running", "elsewhere"), ("interrupted", None)]


async def test_a_run_of_this_process_streams_its_answer_and_its_events(workspace: Path) -> None:
    prepare(workspace)
    async with serving(make_site(workspace, ScriptedModel(answering))) as (_, asked):
        run_id = (await asked.post("/runs", json={"goal": GOAL})).json()["run_id"]
        kinds = [event.type async for event in _all(asked, f"/runs/{run_id}/events")]
        assert kinds[0] == "run_started"
        assert kinds.index("plan_made") < kinds.index("task_finished") < kinds.index("run_finished")
        assert kinds[-1] == "run_status"


async def test_long_texts_are_cut_and_marked(workspace: Path) -> None:
    (workspace / ".agents").mkdir()
    journal = SqliteStore(workspace / ".agents" / "journal.sqlite")
    at = "2026-01-01T00:00:00.000000Z"
    messages: list[dict[str, Any]] = [{"role": "user", "content": "x" * 3_000, "tool_calls": [], "tool_call_id": None}]
    tasks = [{"id": f"t{number}", "action_type": "llm", "depends_on": []} for number in range(300)]
    rows = [
        Row(RUN, 1, at, "call_started", {"role": "task", "task": "a", "model": "m", "messages": messages}),
        Row(RUN, 2, at, "task_finished", {"task": "a", "status": "done", "output": "ü" * 2_001}),
        Row(RUN, 3, at, "plan_made", {"plan": {"tasks": tasks}, "attempts": 1}),
        Row(RUN, 4, at, "warned", {"message": "line\nbreak\u2028and \ud800 more"}),
        Row(RUN, 5, at, "approval_asked", {"id": "i#1", "task": "a", "kind": "tool", "preview": "+ x\n" * 1_000}),
    ]
    journal.append(rows, {RUN: RunSummary(RUN, "g", "done", at)})
    journal.close()
    async with serving(make_site(workspace)) as (_, asked):
        found = [event.data async for event in _all(asked, f"/runs/{RUN}/events") if event.id]
        assert [row.get("cut", False) for row in found] == [True, True, False, False, False]
        assert len(found[4]["preview"]) == 4_000, "nobody allows what they have not seen"
        assert found[0]["messages"] == []
        assert len(found[1]["output"]) == 2_000
        assert len(found[2]["plan"]["tasks"]) == 300
        assert found[3]["message"].startswith("line\nbreak")
        whole = (await asked.get(f"/runs/{RUN}/tasks/a")).json()
        assert len(whole[0]["messages"][0]["content"]) == 3_000
    (workspace / ".agents" / "journal.sqlite").unlink()


async def test_the_stream_of_lists_reports_runs_and_skills(workspace: Path) -> None:
    prepare(workspace)
    async with serving(make_site(workspace, ScriptedModel(answering))) as (_, asked), asyncio.timeout(120):
        heard: dict[str, Any] = {}
        async with asked.stream("GET", "/events") as response:
            stream = events(response)
            run_id = (await asked.post("/runs", json={"goal": GOAL})).json()["run_id"]
            async for event in stream:
                for line in event.data.get("runs", ()):
                    heard[line["run_id"]] = line["status"]
                if heard.get(run_id) == "done":
                    break
            await asked.post("/skills", json={"id": "new-one", "description": "Writes new ones."})
            async for event in stream:
                if event.type == "skills":
                    break
            await asked.delete(f"/runs/{run_id}")
            async for event in stream:
                if event.data.get("gone") == [run_id]:
                    return


@pytest.mark.changes_skills
async def test_one_stream_follows_several_runs_and_the_lists(workspace: Path) -> None:
    with elsewhere(workspace, "end") as writing:
        assert writing.stdout is not None
        await asyncio.to_thread(writing.stdout.readline)
        async with serving(make_site(workspace)) as (_, asked), asyncio.timeout(120):
            ends = [event async for event in _all(asked, f"/events?run={RUN}:58&lists=0")]
            # The run's status is sent whenever it changes, also before its events.
            assert [(event.type, event.id) for event in ends if event.id] == [("warned", "59"), ("run_finished", "60")]
            assert ends[-1].type == "run_status"
            seen: list[int] = []
            statuses: dict[str, Any] = {}
            async with asked.stream("GET", f"/events?run={RUN}:7&run=gone:0&skills=0") as response:
                async for event in events(response):
                    if event.type == "run_status":
                        statuses[event.data["run_id"]] = event.data["status"]
                        if len(statuses) == 2:
                            await asked.delete(f"/runs/{RUN}")
                    elif event.id:
                        seen.append(int(event.id))
                        assert event.data["run_id"] == RUN
                    elif event.data["gone"] == [RUN]:
                        break
            assert statuses == {RUN: "done", "gone": None}
            assert seen == list(range(8, 61))
            assert (await asked.get("/events?run=x")).json()["error"]["message"].endswith("has no number")
            assert (await asked.get("/events?" + "run=x:1&" * 33)).status_code == 400


@pytest.mark.changes_skills
async def test_a_changed_or_deleted_run_sends_one_rest_event(workspace: Path) -> None:
    (workspace / ".agents").mkdir()
    journal = SqliteStore(workspace / ".agents" / "journal.sqlite")
    at = "2026-01-01T00:00:00.000000Z"
    asked_for = {"id": "i#1", "task": None, "kind": "question", "preview": "Which?"}
    journal.append([Row(RUN, 1, at, "approval_asked", asked_for)], {RUN: RunSummary(RUN, "g", "waiting", at)})
    newer = [f"20270101T000000{number:03}-abcdef" for number in range(250)]  # more than lists tell of
    journal.append([], {run: RunSummary(run, "g", "done", at) for run in newer})
    async with serving(make_site(workspace)) as (_, asked), asyncio.timeout(120):
        late = [event.type async for event in _all(asked, f"/events?rest={RUN}:0&lists=0")]
        assert late == ["rest"], "what was missed before the stream is told at once"
        async with asked.stream("GET", f"/events?rest={RUN}:1&lists=0") as response:
            tagged = Row(RUN, 2, at, "turn_taken_back", {"turn": 1})  # nothing that a run is shown by
            journal.append([tagged], {RUN: RunSummary(RUN, "g", "waiting", at)})
            answered = Row(RUN, 3, at, "approval_given", {"call": "i#1", "decision": "answer", "text": "both"})
            journal.append([answered], {RUN: RunSummary(RUN, "g", "waiting", at)})
            assert [(one.type, one.data) async for one in events(response)] == [("rest", {"run_id": RUN})]
        async with asked.stream("GET", f"/events?rest={RUN}:3&lists=0") as response:
            journal.delete([RUN])
            assert [one.type async for one in events(response)] == ["rest"]
        assert (await asked.get("/events?rest=x")).status_code == 400
    journal.close()
    (workspace / ".agents" / "journal.sqlite").unlink()


async def test_open_streams_are_limited(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_STREAMS", 2)
    site = make_site(workspace)
    async with serving(site) as (_, asked), asyncio.timeout(120):
        async with asked.stream("GET", "/events") as one, asked.stream("GET", "/events") as two:
            lines = one.aiter_lines(), two.aiter_lines()  # one that is let go closes its connection
            for each in lines:
                await anext(each)
            third = await asked.get("/events")
            assert (third.status_code, third.json()["error"]["code"]) == (429, "TOO_MANY_STREAMS")
        while site.streams._open:  # noqa: ASYNC110 - the server does not tell
            await asyncio.sleep(0.05)


async def test_shutdown_ends_streams_and_interrupts_runs(workspace: Path) -> None:
    prepare(workspace)

    class Stuck(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if request.role == "task":
                await asyncio.sleep(60)
            return await super().complete(request)

    site = make_site(workspace, Stuck(answering))
    async with serving(site) as (server, asked), asyncio.timeout(120):
        run_id = (await asked.post("/runs", json={"goal": GOAL})).json()["run_id"]
        async with asked.stream("GET", f"/runs/{run_id}/events") as response:
            async for event in events(response):
                if event.type == "task_started":
                    server.end()
    journal = SqliteStore(workspace / ".agents" / "journal.sqlite")
    assert journal.find(run_id).status == "interrupted"
    journal.claim(run_id, myself())  # nobody holds it
    journal.append([], {}, Handover(myself(), released=[run_id]))
    journal.close()
