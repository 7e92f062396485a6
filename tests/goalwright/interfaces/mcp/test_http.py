"""`goalwright mcp serve --http`: token, Host and Origin rules, and questions to the client's user."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import METHOD_NOT_FOUND, ClientCapabilities, ElicitResult, ErrorData

from goalwright.interfaces.mcp.goal_tools import GoalTools
from goalwright.interfaces.mcp.protocol import build
from goalwright.interfaces.mcp.serve import serve_http
from goalwright.interfaces.web.guard import Guard, Hosts
from goalwright_planner.model import Reply
from tests.fakes import ScriptedModel
from tests.goalwright.approving import GOAL, calling, goalwright, prepare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.model import Request

TOKEN = "token-of-the-test"


@asynccontextmanager
async def served(runtime: Goalwright) -> AsyncIterator[str]:
    """Yield the address of a server in this process."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    port = listening.getsockname()[1]
    serving = asyncio.ensure_future(
        serve_http(runtime, listening, lambda app: Guard(app, TOKEN, Hosts("127.0.0.1", port), private="/"))
    )
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        serving.cancel()
        await asyncio.wait({serving}, timeout=30)
        listening.close()


async def test_token_host_and_origin_are_required(workspace: Path) -> None:
    prepare(workspace)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    kind = {"Accept": "application/json, text/event-stream"}
    own = {**kind, "Authorization": f"Bearer {TOKEN}"}
    async with served(goalwright(workspace, calling())) as url, httpx2.AsyncClient(timeout=60) as client:
        for headers, status in (
            (kind, 401),
            ({**kind, "Authorization": "Bearer wrong"}, 401),
            ({**own, "Host": "evil.example"}, 421),
            ({**own, "Origin": "https://evil.example"}, 403),
        ):
            assert (await client.post(url, json=body, headers=headers)).status_code == status
        async with connected(url) as session:
            assert "run_goal" in [tool.name for tool in (await session.list_tools()).tools]


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[Client]:
    """Connect a client with the token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as allowed,
        Client(streamable_http_client(url, http_client=allowed), **options) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_http_reports_progress_and_a_cancelled_call_stops_its_run(workspace: Path, mode: str) -> None:
    tasks = [
        {"id": one, "action_type": "llm", "instruction": one, "depends_on": list(before)}
        for one, before in (("one", ()), ("two", ("one",)))
    ]

    def script(request: Request) -> Reply:
        return Reply(json.dumps({"tasks": tasks}) if request.role == "decomposer" else "worked")

    heard: asyncio.Queue[str | None] = asyncio.Queue()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        await heard.put(message)

    async with (
        served(goalwright(workspace, ScriptedModel(script, unanswered="two"))) as url,
        connected(url, mode=mode) as client,
    ):
        call = asyncio.ensure_future(client.call_tool("run_goal", {"goal": "Do both"}, progress_callback=note))
        assert await asyncio.wait_for(heard.get(), 60) == "one: done"
        call.cancel()
        for _ in range(600):
            (run,) = (await client.call_tool("list_runs", {})).structured_content["runs"]
            if run["status"] != "running":
                break
            await asyncio.sleep(0.1)
    assert run["status"] == "interrupted"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_http_asks_the_clients_user_for_an_approval(workspace: Path, mode: str) -> None:
    prepare(workspace)
    heard: list[str] = []

    async def user(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"decision": "allow"})

    async with (
        served(goalwright(workspace, calling("one"))) as url,
        connected(url, mode=mode, elicitation_callback=user) as client,
    ):
        result = (await client.call_tool("run_goal", {"goal": GOAL})).structured_content
    assert result is not None
    assert (result["status"], len(heard)) == ("done", 1), result
    assert "May it call" in heard[0]


async def test_failing_client_gets_the_open_requests(workspace: Path) -> None:
    prepare(workspace)
    replies = iter([ElicitResult(action="accept", content={"decision": "allow"})])

    async def user(context: Any, params: Any) -> ElicitResult | ErrorData:
        return next(replies, ErrorData(code=METHOD_NOT_FOUND, message="Method not found"))

    tools = GoalTools(goalwright(workspace, calling("one", "two")))
    async with Client(build(tools), mode="legacy", elicitation_callback=user) as client:
        result = (await client.call_tool("run_goal", {"goal": GOAL})).structured_content
    await tools.close()
    assert result is not None
    assert (result["status"], len(result["waiting"])) == ("waiting", 1), "what was allowed before counts"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("declared", "asked"), [({"url": {}}, 0), ({}, 1), ({"form": {}}, 1), ({"form": {}, "url": {}}, 1)]
)
async def test_client_is_asked_only_in_its_declared_modes(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, mode: str, declared: dict[str, Any], asked: int
) -> None:
    prepare(workspace)
    heard: list[str] = []

    async def user(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"decision": "allow"})

    capabilities = ClientCapabilities.model_validate({"elicitation": declared})
    monkeypatch.setattr(ClientSession, "_build_capabilities", lambda *_: capabilities)
    tools = GoalTools(goalwright(workspace, calling("one")))
    async with Client(build(tools), mode=mode, elicitation_callback=user) as client:
        result = (await client.call_tool("run_goal", {"goal": GOAL})).structured_content
    await tools.close()
    assert result is not None
    assert (len(heard), result["status"]) == (asked, "done" if asked else "waiting")


async def test_forged_request_state_reaches_no_run(workspace: Path) -> None:
    prepare(workspace)
    runtime = goalwright(workspace, calling("one"))
    tools = GoalTools(runtime)
    async with Client(build(tools)) as client:  # it cannot ask its user, so the run goes on waiting
        waiting = (await client.call_tool("run_goal", {"goal": GOAL})).structured_content
        assert waiting is not None
        assert waiting["status"] == "waiting"
        said: dict[str, Any] = {
            waiting["waiting"][0]["id"]: ElicitResult(action="accept", content={"decision": "allow"})
        }
        for state in (waiting["run_id"], f"{waiting['run_id']}.{'0' * 32}"):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.session.call_tool("run_goal", {"goal": GOAL}, input_responses=said, request_state=state)
        stands = (await client.call_tool("get_run", {"run_id": waiting["run_id"]})).structured_content
    await tools.close()
    assert stands is not None
    assert stands["status"] == "waiting"
