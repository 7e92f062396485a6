"""Conversations over HTTP: listed, read, continued and undone, one turn at a time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web.routes.conversations import LONGEST_ANSWER
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.test_approvals import ASKS, OTHER
from tests.goalwright.interfaces.web.test_runs import Slow, ended, uploaded
from tests.goalwright.runs.test_conversation import answering, said

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

PLAN = {"tasks": [OTHER]}


async def sent(asked: httpx.AsyncClient, goal: str, conversation: str = "", status: str = "done") -> tuple[str, str]:
    """Run a goal as a turn to its end; return the ids of the conversation and the run."""
    where = f"/conversations/{conversation}/turns" if conversation else "/conversations"
    reply = await asked.post(where, json={"goal": goal})
    assert reply.status_code == 202, reply.text
    begun = reply.json()
    await ended(asked, begun["run_id"], status)
    return begun["conversation"], begun["run_id"]


async def turns(asked: httpx.AsyncClient, conversation: str, **asked_for: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await asked.get(f"/conversations/{conversation}", params=asked_for)).json()["turns"]
    return found


async def test_a_conversation_is_started_continued_and_read(workspace: Path) -> None:
    model = ScriptedModel(answering())
    async with asking(workspace, model) as asked:
        assert (await asked.get("/conversations")).json() == {"conversations": [], "more": False}
        conversation, first = await sent(asked, "one")
        _, second = await sent(asked, "two", conversation)
        assert "On one: yes." in said(model.asked[-1])
        shown = (await asked.get(f"/conversations/{conversation}")).json()
        assert (shown["goal"], shown["turn_count"], shown["earlier"]) == ("one", 2, None)
        assert [(one["number"], one["run_id"], one["answer"], one["status"]) for one in shown["turns"]] == [
            (1, first, "On one: yes.", "done"),
            (2, second, "On two: yes.", "done"),
        ]
        (listed,) = (await asked.get("/conversations")).json()["conversations"]
        assert (listed["conversation"], listed["turns"], listed["last"]) == (conversation, 2, second)
        run = (await asked.get(f"/runs/{second}")).json()
        assert (run["given"]["conversation"], run["given"]["turn"]) == (conversation, 2)


async def test_turns_are_paged_from_the_newest(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering())) as asked:
        conversation, _ = await sent(asked, "one")
        for goal in ("two", "three"):
            await sent(asked, goal, conversation)
        page = (await asked.get(f"/conversations/{conversation}?most=2")).json()
        assert [one["goal"] for one in page["turns"]] == ["two", "three"]
        rest = await turns(asked, conversation, most=2, before=page["earlier"])
        assert [one["goal"] for one in rest] == ["one"]


async def test_an_undone_turn_is_not_shown(workspace: Path) -> None:
    model = ScriptedModel(answering())
    async with asking(workspace, model) as asked:
        conversation, _ = await sent(asked, "one")
        _, second = await sent(asked, "two", conversation)
        taken = await asked.post(f"/conversations/{conversation}/take-back", json={})
        assert taken.json() == {"conversation": conversation, "run_id": second, "left": []}
        assert [one["goal"] for one in await turns(asked, conversation)] == ["one"]
        await sent(asked, "three", conversation)
        assert [(one["number"], one["goal"]) for one in await turns(asked, conversation)] == [(1, "one"), (2, "three")]
        assert "<turn-goal>\ntwo" not in said(model.asked[-1])
        assert (await asked.get(f"/runs/{second}")).status_code == 200


async def test_a_turn_waits_for_an_answer_and_continues_with_it(workspace: Path) -> None:
    model = ScriptedModel(answering(one=json.dumps({"tasks": [ASKS]})))
    async with asking(workspace, model) as asked:
        conversation, run_id = await sent(asked, "one", status="waiting")
        (waiting,) = await turns(asked, conversation)
        assert (waiting["status"], waiting["held_by"]) == ("waiting", None)
        (request,) = (await asked.get(f"/approvals?run={run_id}")).json()
        await asked.post(f"/runs/{run_id}/answers", json=[{"id": request["id"], "decision": "allow"}])
        await ended(asked, run_id)
        assert [one["answer"] for one in await turns(asked, conversation)] == ["send is done"]


async def test_the_second_of_two_concurrent_turns_is_refused(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        begun = (await asked.post("/conversations", json={"goal": "one", "plan": PLAN})).json()
        model.free.set()
        await ended(asked, begun["run_id"])
        where = f"/conversations/{begun['conversation']}/turns"
        model.free.clear()
        body = {"goal": "two", "plan": PLAN}
        replies = await asyncio.gather(*(asked.post(where, json=body) for _ in range(2)))
        assert sorted(reply.status_code for reply in replies) == [202, 400]
        (refused,) = [reply for reply in replies if reply.status_code == 400]
        assert "still running" in refused.json()["error"]["message"]
        model.free.set()
        (accepted,) = [reply for reply in replies if reply.status_code == 202]
        await ended(asked, accepted.json()["run_id"])
        assert len(await turns(asked, begun["conversation"])) == 2


async def test_an_upload_is_kept_while_a_turn_runs_and_belongs_to_the_next(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        begun = (await asked.post("/conversations", json={"goal": "one", "plan": PLAN})).json()
        await model.reached.wait()
        body = {"goal": "two", "plan": PLAN, "files": [await uploaded(asked, "a.csv", b"1,2")]}
        where = f"/conversations/{begun['conversation']}/turns"
        assert (await asked.post(where, json=body)).status_code == 400
        assert [path.name for path in workspace.glob(".agents/runs/*/files/*")] == []
        model.free.set()
        await ended(asked, begun["run_id"])
        replies = await asyncio.gather(*(asked.post(where, json=body) for _ in range(2)))
        assert {reply.status_code for reply in replies} in ({202, 400}, {202, 404})
        (accepted,) = [reply.json()["run_id"] for reply in replies if reply.status_code == 202]
        await ended(asked, accepted)
        assert (workspace / ".agents" / "runs" / accepted / "files" / "a.csv").read_bytes() == b"1,2"


async def test_unknown_conversations_and_read_only_changes_are_refused(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering())) as asked:
        conversation, _ = await sent(asked, "one")
        for path in ("/conversations/none", f"/conversations/{conversation[:-2]}"):
            assert (await asked.get(path)).status_code == 404
            assert (await asked.post(f"{path}/turns", json={"goal": "x"})).status_code == 404
            assert (await asked.post(f"{path}/take-back", json={})).status_code == 404
        assert (await asked.post("/conversations", json={"goal": " "})).status_code == 400
        given = {"goal": "x", "settings": {"journal": "elsewhere"}}
        assert (await asked.post("/conversations", json=given)).status_code == 400
    async with asking(workspace, ScriptedModel(answering()), read_only=True) as asked:
        assert len(await turns(asked, conversation)) == 1
        assert (await asked.post(f"/conversations/{conversation}/turns", json={"goal": "x"})).status_code == 404
        assert (await asked.post("/conversations", json={"goal": "x"})).status_code == 404


async def test_a_very_long_answer_is_cut_in_the_list_of_turns(workspace: Path) -> None:
    long = json.dumps({"answer": "a" * (LONGEST_ANSWER + 1)})
    async with asking(workspace, ScriptedModel(answering(one=long))) as asked:
        conversation, _ = await sent(asked, "one")
        (turn,) = await turns(asked, conversation)
        assert (len(turn["answer"]), turn["cut"]) == (LONGEST_ANSWER, True)
