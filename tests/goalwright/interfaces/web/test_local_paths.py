"""Runs are recorded with placeholders for folders; over HTTP they have the paths of this checkout."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_planner.model import Reply
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking, events, make_site, serving
from tests.goalwright.interfaces.web.test_runs import ended, started
from tests.goalwright.recorded import answering, prepare, store

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.model import Request

MARK = "⟦"


@pytest.fixture(autouse=True)
def notes(workspace: Path) -> None:
    prepare(workspace)


def telling(workspace: Path) -> ScriptedModel:
    """A model whose answers contain a path of the workspace and a literal placeholder."""

    def script(request: Request) -> Reply:
        reply = answering(request)
        return Reply(f"see {workspace}/notes.md, not ⟦it⟧", cost=0.01) if request.role == "synthesis" else reply

    return ScriptedModel(script)


async def test_a_run_is_read_with_the_paths_of_this_checkout(workspace: Path) -> None:
    goal = f"Summarise {workspace}/notes.md"
    async with serving(make_site(workspace, telling(workspace))) as (_, asked), asyncio.timeout(120):
        run_id = await started(asked, goal=goal)
        shown = await ended(asked, run_id)
        assert (shown["goal"], shown["answer"]) == (goal, f"see {workspace}/notes.md, not ⟦it⟧")
        async with asked.stream("GET", f"/runs/{run_id}/events") as response:
            rows = [event.data async for event in events(response) if event.id]
        assert rows[-1]["answer"] == shown["answer"]
        task = (await asked.get(f"/runs/{run_id}/tasks/(synthesis)")).json()
        assert f"{workspace}/notes.md" in str(task)
        assert "⟦workspace⟧" not in f"{shown}{rows}{task}"
        (line,) = (await asked.get("/runs")).json()["runs"]
        plan = (await asked.get(f"/runs/{run_id}/plan")).json()
        assert (line["goal"], plan["goal"]) == (goal, goal)
        exported = (await asked.get(f"/runs/{run_id}/export")).text
        assert "⟦workspace⟧/notes.md" in exported  # it is for other checkouts too
        assert str(workspace) not in exported


async def test_a_goal_is_run_again_with_the_files_of_its_run(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        raw = {"content-type": "application/octet-stream"}
        upload = (await asked.post("/files?name=a.csv", content=b"1,2", headers=raw)).json()
        first = await ended(asked, await started(asked, files=["notes.md", upload["file"]]))
        given = first["given"]["files"]
        again = await ended(asked, await started(asked, files=given, parent=first["run_id"]))
        assert again["given"]["files"] == given


async def test_edited_arguments_reach_the_tool_unchanged(workspace: Path) -> None:
    write: dict[str, Any] = {
        "id": "write",
        "action_type": "tool",
        "name": "WriteFile",
        "arguments": {"path": "list.md", "content": f"- {workspace}/notes.md\n"},
        "needs_approval": f"List {workspace}?",
    }
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked, plan={"tasks": [write]})
        (request,) = (await ended(asked, run_id, "waiting"))["waiting"]
        assert MARK not in str(request)
        edited = request["arguments"] | {"content": request["arguments"]["content"] + "- more\n"}
        answer = {"id": request["id"], "decision": "edit", "arguments": edited}
        assert (await asked.post(f"/runs/{run_id}/answers", json=[answer])).status_code == 202
        await ended(asked, run_id)
        written = workspace / ".agents" / "runs" / run_id / "artifacts" / "list.md"
        assert written.read_text(encoding="utf-8") == f"- {workspace}/notes.md\n- more\n"


async def test_turns_and_requests_have_the_original_goal(workspace: Path) -> None:
    goal = f"Tidy {workspace}/notes.md"
    asks = {"id": "send", "action_type": "llm", "instruction": "Send it", "needs_approval": "Send it now?"}
    async with asking(workspace, ScriptedModel(answering)) as asked:
        begun = (await asked.post("/conversations", json={"goal": goal, "plan": {"tasks": [asks]}})).json()
        await ended(asked, begun["run_id"], "waiting")
        (request,) = (await asked.get("/approvals")).json()
        (listed,) = (await asked.get("/conversations")).json()["conversations"]
        (turn,) = (await asked.get(f"/conversations/{begun['conversation']}")).json()["turns"]
        assert [one["goal"] for one in (request, listed, turn)] == [goal] * 3
    opened = store(workspace)
    assert next(opened.summaries()).goal == "Tidy ⟦workspace⟧/notes.md", "the record is for other checkouts too"
    opened.close()
