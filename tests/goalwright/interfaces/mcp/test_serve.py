"""goalwright as an MCP server, with the package's client: in this process and in another."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from goalwright.interfaces.mcp.goal_tools import GoalTools
from goalwright.interfaces.mcp.protocol import build
from goalwright_planner.model import Reply
from tests.fakes import ScriptedModel
from tests.goalwright.approving import GOAL, calling, goalwright, prepare
from tests.goalwright.recorded import goalwright as runtime
from tests.goalwright.recorded import rows
from tests.mcp_workspace import configure, open_servers
from tests.openai_server import Call, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.model import Request
    from tests.nursery import Nursery
    from tests.openai_server import Answer

ASKING = Path(__file__).parents[3] / "mcp_asking_server.py"
TWO = [
    {"id": "one", "action_type": "llm", "instruction": "First"},
    {"id": "two", "action_type": "llm", "instruction": "Then <<one.output>>", "depends_on": ["one"]},
]


@asynccontextmanager
async def client_of(runtime: Goalwright, *, allow_approvals: bool = False) -> AsyncIterator[Client]:
    """Connect a client in this process."""
    tools = GoalTools(runtime, allow_approvals)
    async with Client(build(tools)) as client:
        yield client
    await tools.close()


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the result of a tool, or its error message."""
    result = await client.call_tool(tool, arguments)
    return result.content[0].text if result.is_error else result.structured_content  # type: ignore[union-attr]


def slow_model(seconds: float, gate: asyncio.Event | None = None) -> ScriptedModel:
    """Return a model whose tasks take `seconds`, or wait for `gate`."""

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            if request.role == "task":
                await (gate.wait() if gate is not None else asyncio.sleep(seconds))
            return await ScriptedModel.complete(self, request)

    return Slow(lambda request: Reply(json.dumps({"tasks": TWO}) if request.role == "decomposer" else "the answer"))


async def test_run_continues_without_a_waiter_and_reports_finished_tasks(workspace: Path) -> None:
    gate, heard = asyncio.Event(), []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with client_of(runtime(workspace, slow_model(0, gate))) as client:
        begun = await called(client, "run_goal", goal="Do both", wait_seconds=0.1)
        assert begun == {"run_id": begun["run_id"], "status": "running"}
        assert await called(client, "get_run", run_id=begun["run_id"]) == begun
        assert [row["status"] for row in (await called(client, "list_runs"))["runs"]] == ["running"]
        gate.set()
        last = {"run_id": begun["run_id"], "wait_seconds": 30}
        ended = (await client.call_tool("get_run", last, progress_callback=note)).structured_content
    assert ended is not None
    assert (ended["status"], ended["answer"], len(ended["tasks"])) == ("done", "the answer", 2)
    assert heard[-1] == (2.0, 2.0, "two: done")


async def test_cancelling_get_run_does_not_stop_the_run(workspace: Path) -> None:
    gate = asyncio.Event()
    async with client_of(runtime(workspace, slow_model(0, gate))) as client:
        begun = await called(client, "run_goal", goal="Do both", wait_seconds=0.1)
        with pytest.raises(Exception, match=r"(?i)timed? ?out"):
            await client.call_tool("get_run", {**begun, "wait_seconds": 30}, read_timeout_seconds=0.2)
        gate.set()
        ended = await called(client, "get_run", run_id=begun["run_id"], wait_seconds=30)
    assert (ended["status"], ended["answer"]) == ("done", "the answer")


async def test_cancelling_a_call_that_started_or_continued_a_run_stops_it(workspace: Path) -> None:
    def script(request: Request) -> Reply:
        if request.role == "decomposer" and "the to-do service" not in request.messages[-1].content:
            return Reply(json.dumps({"tasks": [], "clarification": "Which service?"}))
        return Reply(json.dumps({"tasks": TWO}) if request.role == "decomposer" else "documented")

    class Silent(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            if request.role == "task":
                await asyncio.Event().wait()
            return await ScriptedModel.complete(self, request)

    async with client_of(runtime(workspace, Silent(script))) as client:

        async def cancelled(tool: str, **arguments: Any) -> Any:
            """Return the status of a run whose caller cancels."""
            with pytest.raises(Exception, match=r"(?i)timed? ?out"):
                await client.call_tool(tool, arguments, read_timeout_seconds=2)
            run = (await called(client, "list_runs"))["runs"][0]["run_id"]
            return await called(client, "get_run", run_id=run, wait_seconds=60)

        asked = await called(client, "run_goal", goal="Document it")
        answers = {asked["waiting"][0]["id"]: "the to-do service"}
        ended = await cancelled("answer_run", run_id=asked["run_id"], answers=answers)
        assert (ended["run_id"], ended["status"]) == (asked["run_id"], "interrupted")
        ended = await cancelled("run_goal", goal="Document the to-do service")
        assert (ended["run_id"] != asked["run_id"], ended["status"]) == (True, "interrupted")


async def test_client_answers_questions_but_not_approvals(workspace: Path) -> None:
    def script(request: Request) -> Reply:
        if request.role == "decomposer" and "the to-do service" not in request.messages[-1].content:
            return Reply(json.dumps({"tasks": [], "clarification": "Which service?"}))
        return Reply(json.dumps({"tasks": TWO[:1]}) if request.role == "decomposer" else "documented")

    prepare(workspace)
    async with client_of(runtime(workspace, ScriptedModel(script))) as client:
        asked = await called(client, "run_goal", goal="Document it")
        assert (asked["status"], asked["question"]) == ("waiting", "Which service?")
        given = {asked["waiting"][0]["id"]: "the to-do service"}
        done = await called(client, "answer_run", run_id=asked["run_id"], answers=given)
        assert (done["status"], done["answer"]) == ("done", "documented")
        assert "no request" in await called(client, "answer_run", run_id=asked["run_id"], answers={"zz": "x"})
    async with client_of(goalwright(workspace, calling("milk"))) as client:
        waits = await called(client, "run_goal", goal=GOAL)
        answers = {waits["waiting"][0]["id"]: "allow"}
        refused = await called(client, "answer_run", run_id=waits["run_id"], answers=answers)
        assert "a person answers this: goalwright approvals" in refused
    async with client_of(goalwright(workspace, calling("milk")), allow_approvals=True) as client:
        allowed = await called(client, "answer_run", run_id=waits["run_id"], answers=answers)
    assert (allowed["status"], allowed["waiting"]) == ("done", [])
    assert [row.body["by"] for row in rows(workspace) if row.type == "approval_given"] == ["mcp"]


@pytest.mark.parametrize("given", [{"size": 3, "colour": "red"}, '{"size": 3, "colour": "red"}'])
async def test_form_is_answered_with_an_object_or_json(workspace: Path, given: Any) -> None:
    configure(workspace, asking={"command": sys.executable, "args": ["-S", str(ASKING), "modern"]})
    open_servers(workspace).trust_all()
    task = {"id": "call", "action_type": "tool", "name": "mcp__asking__paint", "arguments": {"what": "the fence"}}
    model = ScriptedModel(lambda _: Reply(json.dumps({"tasks": [task]})))
    async with client_of(runtime(workspace, model, approve="never")) as client:
        asked = await called(client, "run_goal", goal="Paint the fence")
        answers = {asked["waiting"][0]["id"]: given}
        done = await called(client, "answer_run", run_id=asked["run_id"], answers=answers)
    assert done["tasks"][0]["output"] == "the fence: accept [('colour', 'red'), ('size', 3)]"


async def test_plan_skills_and_errors(workspace: Path) -> None:
    async with client_of(runtime(workspace, slow_model(0))) as client:
        assert (await called(client, "list_runs")) == {"runs": []}
        assert "nothing has been run" in await called(client, "get_run", run_id="last")
        plan = await called(client, "plan_goal", goal="Do both")
        assert [task["id"] for task in plan["tasks"]] == ["one", "two"]
        found = (await called(client, "list_skills", query="API documentation"))["skills"]
        assert found[0]["name"] == "cataloging-apis"
        assert len((await called(client, "list_skills"))["skills"]) > 10
        unknown = await called(client, "run_goal", goal="x", skills=["no-such-skill"])
        assert "there is no skill 'no-such-skill'" in unknown
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert sorted(tools) == ["answer_run", "get_run", "list_runs", "list_skills", "plan_goal", "run_goal"]
    assert tools["run_goal"].input_schema["properties"]["wait_seconds"]["default"] == 50
    assert "ctx" not in tools["run_goal"].input_schema["properties"]


@pytest.mark.slow
async def test_process_prints_only_the_protocol_and_runs_until_cancelled(
    workspace: Path, serve: Callable[[Script], OpenAIServer], tmp_path: Path, nursery: Nursery
) -> None:
    def task(call: Call) -> Answer:
        return Say("worked", after=2.0)

    serve(scripted({"tasks": TWO}, task=task))
    spoken, heard = tmp_path / "spoken.txt", []
    command = nursery.command(
        "-m", "goalwright", "mcp", "serve", "--workspace", str(workspace), "--model", "openai/test"
    )
    names = ("HOME", "PATH", "PYTHONPATH", "OPENAI_API_BASE", "OPENAI_API_KEY")
    env = {name: os.environ[name] for name in names if name in os.environ}
    line = f"{shlex.join(command)} | tee {shlex.quote(str(spoken))}"

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with Client(StdioServerParameters(command="sh", args=["-c", line], env=env, cwd=str(workspace))) as client:
        begun = await called(client, "run_goal", goal="Do both", wait_seconds=0.5)
        assert begun["status"] == "running"
        given = {"run_id": begun["run_id"], "wait_seconds": 50}
        ended = (await client.call_tool("get_run", given, progress_callback=note)).structured_content
        with pytest.raises(Exception, match=r"(?i)timed? ?out"):
            await client.call_tool("run_goal", {"goal": "Do both again"}, read_timeout_seconds=1.5)
        for _ in range(200):
            stopped = (await called(client, "list_runs"))["runs"][0]
            if stopped["run_id"] != begun["run_id"] and stopped["status"] == "interrupted":
                break
            await asyncio.sleep(0.3)
        assert (stopped["goal"], stopped["status"]) == ("Do both again", "interrupted")  # cancelled by the client
    assert ended is not None
    assert (ended["status"], [one["status"] for one in ended["tasks"]]) == ("done", ["done", "done"])
    assert heard[-1] == "two: done"
    messages = [json.loads(one) for one in spoken.read_text(encoding="utf-8").splitlines()]
    assert messages
    assert {one["jsonrpc"] for one in messages} == {"2.0"}


@pytest.mark.long
async def test_goal_outlasts_the_waiting_client(
    workspace: Path, serve: Callable[[Script], OpenAIServer], tmp_path: Path
) -> None:
    serve(scripted({"tasks": TWO}, task=lambda _: Say("worked", after=35.0)))
    spoken, heard, begun = tmp_path / "spoken.txt", [], time.monotonic()
    command = [
        sys.executable,
        "-m",
        "goalwright",
        "mcp",
        "serve",
        "--workspace",
        str(workspace),
        "--model",
        "openai/test",
    ]
    names = ("HOME", "PATH", "PYTHONPATH", "OPENAI_API_BASE", "OPENAI_API_KEY")
    env = {name: os.environ[name] for name in names if name in os.environ}
    line = f"{shlex.join(command)} | tee {shlex.quote(str(spoken))}"

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with Client(StdioServerParameters(command="sh", args=["-c", line], env=env, cwd=str(workspace))) as client:

        async def ask(tool: str, **given: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, given, read_timeout_seconds=60, progress_callback=note)
            told: dict[str, Any] | None = answer.structured_content
            assert told is not None, answer
            return told

        stands = await ask("run_goal", goal="Do both")
        assert stands == {"run_id": stands["run_id"], "status": "running"}
        for _ in range(5):
            stands = await ask("get_run", run_id=stands["run_id"], wait_seconds=50)
            if stands["status"] != "running":
                break
    assert (stands["status"], [one["status"] for one in stands["tasks"]]) == ("done", ["done", "done"])
    assert time.monotonic() - begun > 60
    assert [message for _, _, message in heard] == ["one: done", "two: done"]
    assert {json.loads(one)["jsonrpc"] for one in spoken.read_text(encoding="utf-8").splitlines()} == {"2.0"}
