"""Open requests over HTTP: listed, answered while the run waits or is active, refused if invalid."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.test_runs import PAUSE, Slow, ended, started
from tests.goalwright.recorded import answering

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

ASKS: dict[str, Any] = {"id": "send", "action_type": "llm", "instruction": "Send it", "needs_approval": "Send it now?"}
OTHER: dict[str, Any] = {"id": "other", "action_type": "llm", "instruction": "Something else"}


async def asked_for(asked: httpx.AsyncClient, run_id: str, count: int = 1) -> list[dict[str, Any]]:
    """Wait until a run has that number of open requests."""
    async with asyncio.timeout(120):
        while len(found := (await asked.get(f"/approvals?run={run_id}")).json()) != count:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
    return list(found)


async def rows(asked: httpx.AsyncClient, run_id: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await asked.get(f"/runs/{run_id}/export")).text.splitlines()]


async def test_a_waiting_run_is_listed_and_continues_with_the_answer(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        assert (await asked.get("/approvals")).json() == []
        run_id = await started(asked, plan={"tasks": [ASKS]})
        shown = await ended(asked, run_id, "waiting")
        (request,) = (await asked.get("/approvals")).json()
        assert (request["run_id"], request["task"], request["kind"]) == (run_id, "send", "task")
        assert "Send it now?" in request["preview"]
        assert [one["id"] for one in shown["waiting"]] == [request["id"]]
        reply = await asked.post(f"/runs/{run_id}/answers", json=[{"id": request["id"], "decision": "allow"}])
        assert (reply.status_code, reply.json()["run_id"]) == (202, run_id)
        assert (await ended(asked, run_id))["answer"] is not None
        assert await asked_for(asked, run_id, 0) == []


async def test_an_answer_to_an_active_run_is_used_when_it_has_ended(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        run_id = await started(asked, plan={"tasks": [ASKS, OTHER]})
        await model.reached.wait()
        (request,) = await asked_for(asked, run_id)
        answers = [{"id": request["id"], "decision": "allow"}]
        reply = await asked.post(f"/runs/{run_id}/answers", json=answers)
        assert (reply.status_code, reply.json()) == (202, {"run_id": run_id, "queued": True})
        assert await asked_for(asked, run_id, 0) == []  # nobody is asked again
        assert (await asked.get(f"/runs/{run_id}")).json()["waiting"] == []
        again = await asked.post(f"/runs/{run_id}/answers", json=answers)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "ANSWERED_ALREADY")
        shortened = await asked.post(f"/runs/{run_id}/answers", json=[{"id": request["id"][:8], "decision": "deny"}])
        assert (shortened.status_code, shortened.json()["error"]["code"]) == (409, "ANSWERED_ALREADY")
        unknown = await asked.post(f"/runs/{run_id}/answers", json=[{"id": "none", "decision": "allow"}])
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "UNKNOWN_REQUEST")
        model.free.set()
        assert {task["status"] for task in (await ended(asked, run_id))["tasks"]} == {"done"}


async def test_stopping_a_run_drops_its_queued_answer(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        run_id = await started(asked, plan={"tasks": [ASKS, OTHER]})
        await model.reached.wait()
        (request,) = await asked_for(asked, run_id)
        answers = [{"id": request["id"], "decision": "allow"}]
        assert (await asked.post(f"/runs/{run_id}/answers", json=answers)).json()["queued"]
        await asked.post(f"/runs/{run_id}/stop", json={})
        assert (await ended(asked, run_id, "interrupted"))["code"] == "STOPPED_BY_USER"
        model.free.set()
        await asyncio.sleep(0)
        (again,) = await asked_for(asked, run_id)  # it asks when it is resumed, and can be answered then
        assert again["id"] == request["id"]
        assert [one["type"] for one in await rows(asked, run_id) if one["type"] == "run_resumed"] == []
        assert (await asked.post(f"/runs/{run_id}/answers", json=answers)).status_code == 202
        assert {task["status"] for task in (await ended(asked, run_id))["tasks"]} == {"done"}


async def test_a_duplicate_answer_and_an_unknown_request_give_different_errors(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        run_id = await started(asked, plan={"tasks": [ASKS, OTHER | {"depends_on": ["send"]}]})
        await ended(asked, run_id, "waiting")
        (request,) = await asked_for(asked, run_id)
        answers = [{"id": request["id"], "decision": "allow"}]
        assert (await asked.post(f"/runs/{run_id}/answers", json=answers)).status_code == 202
        await model.reached.wait()
        again = await asked.post(f"/runs/{run_id}/answers", json=answers)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "ANSWERED_ALREADY")
        model.free.set()
        await ended(asked, run_id)


async def test_invalid_answers_are_refused_and_leave_the_run_waiting(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked, plan={"tasks": [ASKS]})
        await ended(asked, run_id, "waiting")
        (request,) = await asked_for(asked, run_id)
        refused: list[tuple[Any, int]] = [
            ([], 400),
            ({"id": request["id"]}, 400),
            ([3], 400),
            ([{"id": request["id"], "decision": "perhaps"}], 400),
            ([{"id": request["id"], "decision": "edit", "arguments": {"a": 1}}], 400),
            ([{"id": "none", "decision": "allow"}], 404),
        ]
        for body, status in refused:
            reply = await asked.post(f"/runs/{run_id}/answers", json=body)
            assert (reply.status_code, bool(reply.json()["error"]["message"])) == (status, True), body
        assert (await ended(asked, run_id, "waiting"))["held_by"] is None
        denied = [{"id": request["id"], "decision": "deny", "note": "not on a Friday"}]
        assert (await asked.post(f"/runs/{run_id}/answers", json=denied)).status_code == 202
        shown = await ended(asked, run_id, "failed")
        assert [task["status"] for task in shown["tasks"]] == ["skipped"]
        late = await asked.post(f"/runs/{run_id}/answers", json=denied)
        assert (late.status_code, late.json()["error"]["code"]) == (409, "ANSWERED_ALREADY")
