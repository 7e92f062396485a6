"""Runs over HTTP: started, listed, shown, stopped, resumed, rerun, compared, replayed, exported, imported, deleted."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.web.site import Site
from goalwright_planner.errors import RequestRefused
from goalwright_planner.model import Reply, Usage
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking, client, events
from tests.goalwright.recorded import GOAL, PLAN, SKILL, UNSURE_GOAL, answering, failing, prepare
from tests.goalwright.recorded import goalwright as runtime
from tests.goalwright.recorded import store as open_journal

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from goalwright_planner.model import Request


class Slow(ScriptedModel):
    """A scripted model that finishes no task until released."""

    def __init__(self) -> None:
        super().__init__(answering)
        self.free, self.reached = asyncio.Event(), asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        if request.role == "task":
            self.reached.set()
            await self.free.wait()
        return await super().complete(request)


@pytest.fixture(autouse=True)
def notes(workspace: Path) -> None:
    prepare(workspace)


# The routes have no stream to wait for here, so tests poll.
PAUSE = 0.03


async def ended(asked: httpx.AsyncClient, run_id: str, status: str = "done") -> dict[str, Any]:
    """Wait until the run has a status, and return it."""
    async with asyncio.timeout(120):
        while (found := (await asked.get(f"/runs/{run_id}")).json())["status"] != status or found["held_by"]:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
    return dict(found)


async def started(asked: httpx.AsyncClient, **body: Any) -> str:
    response = await asked.post("/runs", json={"goal": GOAL} | body)
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


async def test_a_run_is_on_disk_when_it_is_acknowledged(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering, usage=Usage(calls=1))) as asked:
        run_id = await started(asked, settings={"max_cost": 2})
        journal = open_journal(workspace)
        assert next(journal.rows(run_id)).type == "run_started"
        journal.close()
        shown = await ended(asked, run_id)
        assert (shown["answer"], shown["goal"], shown["held_by"]) == ("the answer", GOAL, None)
        assert [span["id"] for span in shown["spans"]] == ["(plan)", "survey", "notes", "brief", "(synthesis)"]
        assert all("output" not in task for task in shown["tasks"])
        assert shown["settings"]["max_cost"] == 2
        assert shown["last_seq"] > 0
        assert shown["skills_used"] == [SKILL]
        assert [text.partition(":")[0] for text in shown["warnings"]] == ["scripted does not report its usage"]
        (line,) = (await asked.get("/runs")).json()["runs"]
        assert (line["run_id"], line["status"], line["done"], line["tasks"]) == (run_id, "done", 3, 3)
        assert SKILL in line["skills"]
        assert (line["parent"], line["batch"]) == (None, None)


async def test_tasks_planning_and_synthesis_are_shown_in_full(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        kinds = [row["type"] for row in (await asked.get(f"/runs/{run_id}/tasks/notes")).json()]
        assert kinds[:3] == ["task_started", "prompt_made", "call_started"]
        assert "tool_called" in kinds
        assert kinds[-1] == "task_finished"
        for step in ("(plan)", "(synthesis)"):
            assert "call_finished" in [row["type"] for row in (await asked.get(f"/runs/{run_id}/tasks/{step}")).json()]
        missing = await asked.get(f"/runs/{run_id}/tasks/nothing")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "UNKNOWN_TASK")


async def test_the_steps_around_the_tasks_are_shown_in_full_too(workspace: Path) -> None:
    model = ScriptedModel(lambda request: answering(request) if request.role != "detector" else Reply('{"skills": []}'))
    async with asking(workspace, model) as asked:
        run_id = await started(asked, settings={"detector": "llm"})
        steps = [one["id"] for one in (await ended(asked, run_id))["spans"] if one["id"].startswith("(")]
        assert "(detector)" in steps
        for step in steps:
            rows = (await asked.get(f"/runs/{run_id}/tasks/{step}")).json()
            assert "call_finished" in {row["type"] for row in rows}, step


async def test_runs_are_filtered_and_paged(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        for goal in ("one apple", "two pears", "three apples"):
            await ended(asked, await started(asked, goal=goal, plan={"tasks": [{"id": "a", "action_type": "llm"}]}))
        page = (await asked.get("/runs?most=2")).json()
        assert [run["goal"] for run in page["runs"]] == ["three apples", "two pears"]
        rest = (await asked.get(f"/runs?most=2&before={page['next']}")).json()
        assert ([run["goal"] for run in rest["runs"]], rest["next"]) == (["one apple"], None)
        assert [run["goal"] for run in (await asked.get("/runs?q=APPLE")).json()["runs"]] == [
            "three apples",
            "one apple",
        ]
        assert (await asked.get("/runs?status=failed,running")).json()["runs"] == []
        assert len((await asked.get("/runs?status=done&status=failed&most=9999")).json()["runs"]) == 3
        wrong = await asked.get("/runs?most=many")
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "INVALID_INPUT")


async def test_an_empty_workspace_has_no_runs_and_reading_writes_no_files(workspace: Path) -> None:
    async with asking(workspace) as asked:
        assert (await asked.get("/runs")).json() == {"runs": [], "next": None}
        assert (await asked.get("/batches")).json() == []
        missing = await asked.get("/runs/none")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "UNKNOWN_RUN")
    assert not (workspace / ".agents").exists()


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 400, "the goal is empty"),
        ({"goal": 3}, 400, "'goal' must be a string"),
        ({"skills": "no-such"}, 400, "no skill 'no-such'"),
        ({"files": ["../out"]}, 400, "not below"),
        ({"files": ["/etc/passwd"]}, 400, "not below"),
        ({"files": ["none.txt"]}, 400, "no such file"),
        ({"files": ["x" * 5000]}, 400, "File name too long"),
        ({"files": ["x/" * 5000]}, 400, "File name too long"),
        ({"files": ["circle"]}, 400, "no such file"),
        ({"files": ["upload:none"]}, 404, "no upload"),
        ({"settings": {"api_base": "http://a"}}, 400, "cannot set"),
        ({"settings": {"unsafe_tools": True}}, 400, "cannot set"),
        ({"settings": {"journal": "a"}}, 400, "cannot set"),
        ({"settings": {"max_cost": -1}}, 400, "max_cost"),
        ({"settings": [1]}, 400, "must be an object"),
        ({"plan": "tasks: ["}, 422, "neither YAML nor JSON"),
        ({"plan": 3}, 400, "'plan' must be"),
        ({"plan": {"tasks": [{"id": "a", "action_type": "llm", "depends_on": ["b"]}]}}, 422, "'b'"),
        ({"parent": "none"}, 404, "nothing has been run"),
    ],
)
async def test_a_run_that_fails_to_start_leaves_no_files(
    workspace: Path, body: dict[str, Any], status: int, says: str
) -> None:
    (workspace / "circle").symlink_to("circle")
    async with asking(workspace, ScriptedModel(answering)) as asked:
        response = await asked.post("/runs", json={"goal": "x"} | body if body else body)
        error = response.json()["error"]
        assert (response.status_code, says in error["message"]) == (status, True), error
        assert error["hint"]
        assert (await asked.get("/runs")).json()["runs"] == []


async def test_invalid_and_too_large_bodies_are_refused(workspace: Path) -> None:
    async with asking(workspace) as asked:
        kind = {"content-type": "application/json"}
        for content, status in [
            (b"{", 400),
            (b"[]", 400),
            (b"[" * 100_000, 400),
            (b'"' + b"x" * 1_100_000 + b'"', 413),
        ]:
            response = await asked.post("/preview", content=content, headers=kind)
            assert response.status_code == status
            assert "Traceback" not in response.text
        raw = await asked.post("/preview", content=b"{}", headers={"content-type": "application/octet-stream"})
        assert raw.status_code == 415


async def test_a_run_is_stopped_and_resumed_without_paying_twice(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        run_id = await started(asked)
        assert (await asked.get(f"/runs/{run_id}")).json()["held_by"] == "here"
        assert (await asked.delete(f"/runs/{run_id}")).status_code == 409
        assert (await asked.post(f"/runs/{run_id}/resume")).status_code == 409
        await model.reached.wait()
        assert (await asked.post(f"/runs/{run_id}/stop")).status_code == 202
        await ended(asked, run_id, "interrupted")
        assert [request.role for request in model.asked] == ["decomposer"]
        stopped = await asked.post(f"/runs/{run_id}/stop")
        assert (stopped.status_code, stopped.json()["error"]["code"]) == (409, "NOT_RUNNING")
        model.free.set()
        again = await asked.post(f"/runs/{run_id}/resume", json={"settings": {"max_cost": 3}})
        assert (again.status_code, again.json()) == (202, {"run_id": run_id})
        shown = await ended(asked, run_id)
        assert (shown["answer"], shown["resumed"], shown["settings"]["max_cost"]) == ("the answer", 1, 3)
        assert [request.role for request in model.asked].count("decomposer") == 1
        finished = await asked.post(f"/runs/{run_id}/resume")
        assert (finished.status_code, finished.json()["error"]["code"]) == (409, "NOTHING_TO_DO")


async def test_a_run_of_another_runtime_is_stopped_through_the_journal(workspace: Path) -> None:
    async with runtime(workspace, Slow()) as elsewhere, asking(workspace) as asked:
        running = asyncio.ensure_future(elsewhere.run(GOAL))
        async with asyncio.timeout(120):
            while not (runs := (await asked.get("/runs")).json()["runs"]):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE)
        assert (await asked.get(f"/runs/{runs[0]['run_id']}")).json()["held_by"] == "elsewhere"
        assert (await asked.post(f"/runs/{runs[0]['run_id']}/stop")).status_code == 202
        assert (await asyncio.wait_for(running, 20)).status == "interrupted"


async def test_at_most_eight_runs_are_active(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        plan = {"tasks": [{"id": "a", "action_type": "llm"}]}
        for _ in range(8):
            await started(asked, plan=plan)
        ninth = await asked.post("/runs", json={"goal": "x", "plan": plan})
        assert (ninth.status_code, ninth.json()["error"]["code"]) == (429, "TOO_MANY_RUNS")
        model.free.set()


async def test_a_dry_run_lists_the_tasks_that_a_rerun_executes(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        dry = await asked.post(f"/runs/{run_id}/rerun", json={"from": ["brief"], "dry_run": True})
        assert dry.json() == {"reused": ["survey", "notes"], "executed": ["brief"]}
        edited = {"from": [], "inputs": {"survey": "as edited"}, "settings": {"max_cost": 1}}
        again = (await asked.post(f"/runs/{run_id}/rerun", json=edited)).json()["run_id"]
        shown = await ended(asked, again)
        assert shown["parent"] == run_id
        assert {span["id"]: span["status"] for span in shown["spans"]}["survey"] == "reused"
        for body, status in [({}, 400), ({"from": ["none"]}, 400), ({"from": ["brief"], "use": {"a": "../x"}}, 400)]:
            assert (await asked.post(f"/runs/{run_id}/rerun", json=body)).status_code == status


async def test_runs_are_compared_and_replayed(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        first, second = await started(asked), await started(asked, settings={"max_cost": 5})
        await ended(asked, first)
        await ended(asked, second)
        found = (await asked.get(f"/runs/{first}/diff/{second}")).json()
        assert {one["what"] for one in found} <= {"seconds"}
        replayed = (await asked.post(f"/runs/{first}/replay")).json()
        assert (replayed["answer"], replayed["drift"]) == ("the answer", [])
        (selection,) = (await asked.post(f"/runs/{first}/replay", json={"select": True})).json()
        assert (selection["run_id"], selection["added"], selection["dropped"]) == (first, [], [])
        assert len((await asked.post("/replay")).json()) == 2
        assert (await asked.get(f"/runs/{first}/diff/none")).status_code == 404


async def test_a_run_is_exported_deleted_and_imported_again(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        lines = await asked.get(f"/runs/{run_id}/export?form=jsonl")
        assert lines.headers["content-disposition"] == f'attachment; filename="{run_id}.jsonl"'
        assert lines.headers["content-type"] == "application/octet-stream"
        page = await asked.get(f"/runs/{run_id}/export?form=html")
        assert page.content.startswith(b"<!doctype html>")
        assert (await asked.get(f"/runs/{run_id}/export?form=exe")).status_code == 400
        raw = {"content-type": "application/octet-stream"}
        twice = await asked.post("/runs/import", content=lines.content, headers=raw)
        assert twice.status_code == 409
        assert (await asked.delete(f"/runs/{run_id}")).json() == {"deleted": run_id, "left": []}
        assert (await asked.get("/runs")).json()["runs"] == []
        back = await asked.post("/runs/import", content=lines.content, headers=raw)
        assert (back.status_code, back.json()) == (201, {"runs": [run_id]})
        assert (await asked.get(f"/runs/{run_id}")).json()["answer"] == "the answer"
        leads_out = lines.content.replace(run_id.encode(), b"../x")
        refused = await asked.post("/runs/import", content=leads_out, headers=raw)
        assert refused.status_code == 400
        assert refused.json()["error"]["message"].startswith("the trace, line 1: Expected")
        assert "$.run_id" in refused.json()["error"]["message"]
        await asked.delete(f"/runs/{run_id}")
        first, second, *others = lines.content.splitlines(keepends=True)
        for content, message in {
            b"".join(
                [first, *others]
            ): f"the trace, line 2: run {run_id} is incomplete: 1 event before its event 3 is missing",
            b"".join(
                [second, *others]
            ): f"the trace, line 1: run {run_id} is incomplete: 1 event before its event 2 is missing",
            first.replace(b"run_started", b"warned_of"): f"the trace: run {run_id} is incomplete: it does not begin "
            "with run_started",
            first[:40]: "the trace, line 1 is not JSON",
            b"\n": "the trace contains no run",
            b"\xff\n": "the trace is not UTF-8 text",
        }.items():
            refused = await asked.post("/runs/import", content=content, headers=raw)
            assert refused.status_code == 400
            assert refused.json()["error"]["message"].startswith(message)
        assert (await asked.get("/runs")).json()["runs"] == []


async def test_a_file_for_a_goal_is_named_or_uploaded_and_belongs_to_its_run(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        raw = {"content-type": "application/octet-stream"}
        upload = (await asked.post("/files?name=../a%20b.csv", content=b"1,2", headers=raw)).json()
        assert (upload["name"], upload["bytes"]) == ("a b.csv", 3)
        run_id = await started(asked, files=["notes.md", upload["file"]])
        shown = await ended(asked, run_id)
        kept = workspace / ".agents" / "runs" / run_id / "files" / "a b.csv"
        assert kept.read_bytes() == b"1,2"
        assert [name.rpartition("/")[2] for name in shown["given"]["files"]] == ["notes.md", "a b.csv"]
        assert (await asked.post("/runs", json={"goal": "x", "files": [upload["file"]]})).status_code == 404
        large = await asked.post("/files?name=a", content=b"x" * 20_000_001, headers=raw)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "TOO_LARGE")
        assert (await asked.post("/files?name=..", content=b"x", headers=raw)).status_code == 400


async def uploaded(asked: httpx.AsyncClient, name: str, content: bytes) -> str:
    """Upload a file, and return its name for `files`."""
    raw = {"content-type": "application/octet-stream"}
    return str((await asked.post(f"/files?name={name}", content=content, headers=raw)).json()["file"])


@pytest.mark.parametrize("where", ["/runs", "/conversations"])
async def test_uploads_of_the_same_name_get_distinct_names(workspace: Path, where: str) -> None:
    model = ScriptedModel(answering)
    async with asking(workspace, model) as asked:
        given = {"data.csv": b"first", "Data.csv": b"second", "data-2.csv": b"third", "notes": b"4", "notes.md": b"5"}
        files = [await uploaded(asked, name, content) for name, content in given.items()]
        files += [await uploaded(asked, "data.csv", b"sixth"), files[0], "notes.md"]
        begun = await asked.post(where, json={"goal": GOAL, "files": files})
        assert begun.status_code == 202, begun.text
        shown = await ended(asked, begun.json()["run_id"])
        folder = workspace / ".agents" / "runs" / begun.json()["run_id"] / "files"
        kept = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert kept == {
            "data.csv": b"first",
            "Data-3.csv": b"second",
            "data-2.csv": b"third",
            "notes": b"4",
            "notes.md": b"5",
            "data-4.csv": b"sixth",
        }
        names = [str(folder / name) for name in kept]
        assert sorted(shown["given"]["files"]) == sorted([*names, str(workspace / "notes.md")])
        assert all(name in model.asked[0].messages[1].content for name in names)


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"skills": ["no-such"]}, 400),
        ({"goal": " "}, 400),
        ({"plan": "tasks: ["}, 422),
        ({"settings": {"max_cost": 1}}, 400),
        ({"files": "none.txt"}, 400),
        ({"files": "../out"}, 400),
        ({"files": "upload:none"}, 404),
    ],
)
@pytest.mark.parametrize("where", ["/runs", "/conversations"])
async def test_uploads_are_kept_when_a_run_cannot_start(
    workspace: Path, where: str, wrong: dict[str, Any], status: int
) -> None:
    site = Site(workspace, {"model": "scripted"}, open_model=lambda _: ScriptedModel(answering))
    async with client(site) as asked:
        files = [await uploaded(asked, "a.csv", b"1,2")]
        more = {"files": [*files, wrong["files"]]} if "files" in wrong else wrong
        refused = await asked.post(where, json={"goal": GOAL, "files": files} | more)
        assert refused.status_code == status, refused.text
        assert list(workspace.glob(".agents/runs/*")) == []
        begun = await asked.post(where, json={"goal": GOAL, "files": files})
        assert begun.status_code == 202, begun.text
        run_id = begun.json()["run_id"]
        await ended(asked, run_id)
        assert (workspace / ".agents" / "runs" / run_id / "files" / "a.csv").read_bytes() == b"1,2"
        again = await asked.post(where, json={"goal": GOAL, "files": files})
        assert (again.status_code, again.json()["error"]["code"]) == (404, "NOT_FOUND")
    await site.close()


def reading_each(request: Request) -> Reply:
    """A plan with a task for each file in the planner's prompt, named in its instruction and arguments."""
    if request.role != "decomposer":
        return answering(request)
    _, told, after = request.messages[1].content.partition("The person gave these files.")
    listed = [line[2:] for line in after.split("\n\n")[0].splitlines() if line.startswith("- ")] if told else []
    given = [{"instruction": f"Look at {path}, please.", "arguments": f"({path})"} for path in listed]
    look = [{"id": f"look-{at}", "action_type": "llm"} | one for at, one in enumerate(given, 1)]
    read = [{"id": "read", "action_type": "tool", "name": "ReadFile", "arguments": {"path": path}} for path in listed]
    return Reply(json.dumps({"tasks": [*look, *read[-1:]] or [{"id": "a", "action_type": "llm"}], "synthesis": "-"}))


async def planned(asked: httpx.AsyncClient, **body: Any) -> str:
    """The text of the plan that is made for a goal."""
    async with asked.stream("POST", "/plan", json={"goal": UNSURE_GOAL} | body) as response:
        assert response.status_code == 200, await response.aread()
        *_, last = [one async for one in events(response)]
    assert last.type == "plan", last
    return str(last.data["text"])


async def test_a_plan_names_the_runs_copies_of_uploads(workspace: Path) -> None:
    model = ScriptedModel(reading_each)
    async with asking(workspace, model) as asked:
        files = ["notes.md", *[await uploaded(asked, "it's%20data.csv", one) for one in (b"first", b"second")]]
        await planned(asked, files=files[2:])  # planned before without the first: the second has its own name there
        text = await planned(asked, files=files)
        assert text.count("it's data") + text.count("it''s data") == 5
        assert list(workspace.glob(".agents/runs/*")) == []
        run_id = await started(asked, goal=UNSURE_GOAL, files=files, plan=text)
        await ended(asked, run_id)
        shown = (await asked.get(f"/runs/{run_id}")).json()
        folder = workspace / ".agents" / "runs" / run_id / "files"
        given = [workspace / "notes.md", folder / "it's data.csv", folder / "it's data-2.csv"]
        assert shown["given"]["files"] == [str(path) for path in given]
        assert [path.read_bytes() for path in given[1:]] == [b"first", b"second"]
        made = {"text": (await asked.get(f"/runs/{run_id}/plan")).json()["text"]}
        *look, read = (await asked.post("/plan/check", json=made)).json()["plan"]["tasks"]
        told = [(task["instruction"], task["arguments"]) for task in look]
        assert told == [(f"Look at {path}, please.", f"({path})") for path in given]
        assert read["arguments"] == {"path": str(given[2])}
        assert "second" in (await asked.get(f"/runs/{run_id}/tasks/read")).text


async def test_a_plan_made_before_a_file_was_removed_names_the_runs_copies(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(reading_each)) as asked:
        files = [await uploaded(asked, "data", content) for content in (b"first", b"second")]
        text = await planned(asked, files=files)
        run_id = await started(asked, goal=UNSURE_GOAL, files=files[1:], plan=text)
        await ended(asked, run_id)
        (kept,) = (workspace / ".agents" / "runs" / run_id / "files").iterdir()
        assert (kept.name, kept.read_bytes()) == ("data", b"second")
        assert f"Look at {kept}, please." in (await asked.get(f"/runs/{run_id}/tasks/look-2")).text


@pytest.mark.parametrize("where", ["/plan", "/preview"])
@pytest.mark.parametrize(
    ("name", "status"),
    [("none.txt", 400), ("../out", 400), ("x" * 5000, 400), ("upload:none", 404)],
)
async def test_files_are_checked_before_a_goal_is_planned(workspace: Path, where: str, name: str, status: int) -> None:
    model = ScriptedModel(answering)
    async with asking(workspace, model) as asked:
        refused = await asked.post(where, json={"goal": GOAL, "files": [name]})
        assert (refused.status_code, model.asked) == (status, []), refused.text


async def test_a_failed_run_has_its_error(workspace: Path) -> None:
    model = ScriptedModel(failing("survey", "notes", error=RequestRefused("not today")))
    async with asking(workspace, model) as asked:
        run_id = await started(asked)
        shown = await ended(asked, run_id, "failed")
        assert "not today" in shown["error"]
        spans = {span["id"]: (span["status"], span["error"]) for span in shown["spans"]}
        assert spans["brief"][0] == "skipped"
        plan = (await asked.get(f"/runs/{run_id}/plan")).json()
        assert plan["goal"] == GOAL
        assert "id: survey" in plan["text"]


async def test_the_plan_of_a_fanned_out_run_is_the_original_plan(workspace: Path) -> None:
    each = {"id": "each", "action_type": "llm", "instruction": "About <<item>>.", "for_each": ["a", "b"]}
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked, plan={"tasks": [each]})
        shown = await ended(asked, run_id)
        assert [span["id"] for span in shown["spans"]] == ["each", "each[1]", "each[2]"]
        plan = (await asked.get(f"/runs/{run_id}/plan")).json()["text"]
        assert "each[1]" not in plan
        checked = (await asked.post("/plan/check", json={"text": plan})).json()
        assert (checked["faults"], [task["id"] for task in checked["plan"]["tasks"]]) == ([], ["each"])


async def test_a_plan_is_checked_as_it_is_typed(workspace: Path) -> None:
    async with asking(workspace) as asked:
        faulty = (
            "tasks:\n- id: a\n  action_type: skill\n  name: none-such\n- id: b\n  action_type: llm\n  depends_on: [c]\n"
        )
        found = (await asked.post("/plan/check", json={"text": faulty})).json()
        assert found["plan"] is None
        assert [(fault["line"], fault["message"][:8]) for fault in found["faults"]] == [
            (4, "task 'a'"),
            (7, "task 'b'"),
        ]
        right = (await asked.post("/plan/check", json={"text": json.dumps(PLAN | {"goal": GOAL})})).json()
        assert (right["faults"], right["goal"]) == ([], GOAL)
        assert [task["id"] for task in right["plan"]["tasks"]] == ["survey", "notes", "brief"]


async def test_a_plan_check_returns_tasks_with_lines_in_any_format(workspace: Path) -> None:
    mixed = (
        "tasks:\n- id: a\n  action_type: llm\n  instruction: |\n    - id: x\n\n    depends_on: [c]\n\n# and then\n"
        "- {id: b, type: llm, task: Do it.}\n- id: c\n  depends_on: [a, 'b']  # both\n  action_type: none\n"
    )
    async with asking(workspace) as asked:
        found = (await asked.post("/plan/check", json={"text": mixed})).json()
        tasks = [(task["id"], task["depends_on"], task["line"], task["end"]) for task in found["tasks"]]
        assert tasks == [("a", [], 2, 7), ("b", [], 10, 10), ("c", ["a", "b"], 11, 13)]
        assert ({fault["task"] for fault in found["faults"]}, found["editable"]) == ({"c"}, True)
        found = (await asked.post("/plan/check", json={"text": json.dumps(PLAN)})).json()
        assert [task["id"] for task in found["tasks"]] == ["survey", "notes", "brief"]
        found = (await asked.post("/plan/check", json={"text": "tasks: ["})).json()
        assert (found["tasks"], found["editable"]) == (None, False)


async def test_a_plan_edit_returns_the_text_with_its_check(workspace: Path) -> None:
    text = "tasks:\n- id: a\n  action_type: llm\n  instruction: Do it.\n"
    async with asking(workspace) as asked:

        async def edited(**change: str) -> dict[str, Any]:
            found: dict[str, Any] = (await asked.post("/plan/edit", json={"text": text} | change)).json()
            return found

        found = await edited(change="add", task="a")
        assert (found["task"], found["plan"]["tasks"][1]["depends_on"]) == ("task-2", ["a"])
        text = found["text"]
        assert (await edited(change="rename", task="a", to="b"))["plan"]["tasks"][1]["depends_on"] == ["b"]
        assert (await edited(change="unlink", task="task-2", to="a"))["plan"]["tasks"][1]["depends_on"] == []
        assert [task["id"] for task in (await edited(change="remove", task="a"))["tasks"]] == ["task-2"]
        assert "no single task" in (await edited(change="remove", task="x"))["error"]["message"]
        assert "there is no change" in (await edited(change="turn"))["error"]["message"]


async def test_a_preview_selects_skills_and_calls_no_model(workspace: Path) -> None:
    model = ScriptedModel(answering)
    async with asking(workspace, model) as asked:
        found = (await asked.post("/preview", json={"goal": GOAL})).json()
        assert SKILL in [one["name"] for one in found["selected"]]
        assert found["estimate"]["prompt_tokens"] > 100
        assert (found["model"], model.asked) == ("scripted", [])
        files = ["notes.md", await uploaded(asked, "a.csv", b"1,2")]
        more = (await asked.post("/preview", json={"goal": GOAL, "files": files})).json()
        assert more["estimate"]["prompt_tokens"] > found["estimate"]["prompt_tokens"]
        assert (await asked.post("/preview", json={"goal": GOAL, "files": files})).status_code == 200
