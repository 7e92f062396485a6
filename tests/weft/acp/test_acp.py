"""`weft acp` driven by the protocol's own client: turns, plans, approvals, a cancel, a kill, and loading again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from acp.exceptions import RequestError
from acp.schema import EnvVariable, McpServerStdio, ToolCallProgress, ToolCallStart

from tests.fakes import ScriptedModel
from tests.mcp_workspace import small
from tests.openai_server import Call, OpenAIServer, Say
from tests.weft.acp.client import Editor, agent, agent_process, say
from weft_planner.model import Reply, ToolCall

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openai_server import Answer
    from weft_planner.model import Request

TWO: list[dict[str, Any]] = [
    {"id": "one", "title": "First step", "action_type": "llm", "instruction": "First"},
    {"id": "two", "title": "Second step", "action_type": "llm", "instruction": "<<one.output>>", "depends_on": ["one"]},
]


def plan(*tasks: dict[str, Any]) -> str:
    return json.dumps({"tasks": list(tasks), "synthesis": None, "clarification": None})


def simple() -> ScriptedModel:
    """A plan of two tasks for every goal."""
    return ScriptedModel(
        lambda request: Reply(plan(*TWO) if request.role == "decomposer" else f"the answer of {request.task}")
    )


def written(request: Request) -> Reply:
    """A plan whose task writes a file of the workspace."""
    if request.role == "decomposer":
        return Reply(plan({"id": "note", "title": "Note it", "action_type": "llm", "instruction": "Write notes.md"}))
    results = [json.loads(message.content) for message in request.messages if message.role == "tool"]
    if results:
        return Reply(f"it said {results[0]['status']}")
    call = ToolCall("c1", "WriteFile", json.dumps({"path": "workspace:notes.md", "content": "noted\n"}))
    return Reply("", tool_calls=(call,))


def writing() -> ScriptedModel:
    return ScriptedModel(written)


def by_server(call: Call) -> Answer:
    """The same as `written`, over HTTP."""
    if call.role == "decomposer":
        return Say(plan({"id": "note", "title": "Note it", "action_type": "llm", "instruction": "Write notes.md"}))
    if not call.tool_results:
        return Say(tool_calls=(("WriteFile", {"path": "workspace:notes.md", "content": "noted\n"}),))
    return Say(f"it said {call.tool_results[0]['status']}")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "weft.toml").write_text("", encoding="utf-8")
    return folder


def environment(tmp_path: Path, server: OpenAIServer) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "CACHE", "DATA", "STATE")}
    return folders | {
        "HOME": str(home),
        "WEFT_MODEL": "openai/m",
        "OPENAI_API_KEY": "k",
        "OPENAI_API_BASE": server.base,
    }


async def test_a_turn_sends_its_plan_as_it_goes_and_its_answer_once(workspace: Path) -> None:
    editor = Editor()
    async with agent(editor, simple()) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        assert await say(connection, session, "Do two steps") == "end_turn"
    assert [title for title, _ in editor.plans[0]] == ["First step", "Second step"]
    assert {status for _, status in editor.plans[-1]} == {"completed"}
    assert ("First step", "in_progress") in [entry for sent in editor.plans for entry in sent]
    assert editor.said() == "the answer of two"
    assert {name for name, _ in editor.updates} == {session}


@pytest.mark.parametrize(("choice", "exists", "heard"), [("allow", True, "success"), ("reject", False, "error")])
async def test_a_write_asks_and_is_shown_as_a_diff(workspace: Path, choice: str, exists: bool, heard: str) -> None:
    editor = Editor(lambda _: choice)
    async with agent(editor, writing()) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(connection, session, "Write notes.md")
    ((_, options),) = editor.asked
    assert options == ["allow", "allow_rest", "reject"]
    assert (workspace / "notes.md").exists() is exists
    started = next(update for _, update in editor.updates if isinstance(update, ToolCallStart))
    (change,) = started.content or []
    assert (started.kind, getattr(change, "path", "")) == ("edit", str(workspace / "notes.md"))
    ended = next(update for _, update in editor.updates if isinstance(update, ToolCallProgress))
    assert ended.tool_call_id == started.tool_call_id
    assert f"it said {heard}" in editor.said()


async def test_in_plan_mode_nothing_runs_before_a_yes_and_the_mode_survives(workspace: Path) -> None:
    model = simple()
    async with agent(Editor(lambda _: "reject"), model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await connection.set_session_mode(session_id=session, mode_id="plan")
        await say(connection, session, "Do two steps")
        assert {request.role for request in model.asked} == {"decomposer"}
        with pytest.raises(RequestError):
            await connection.set_session_mode(session_id=session, mode_id="yolo")
    async with agent(Editor(), model) as connection:
        loaded = await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        assert loaded.modes.current_mode_id == "plan"
        await say(connection, session, "Do two steps again")
    assert "task" in {request.role for request in model.asked}


async def test_loading_sends_the_history_without_a_call_and_lists_the_session(workspace: Path) -> None:
    first, later, model = Editor(), Editor(), simple()
    async with agent(first, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        for text in ("First goal", "Second goal"):
            await say(connection, session, text)
    paid = len(model.asked)
    async with agent(later, model) as connection:
        listed = (await connection.list_sessions(cwd=str(workspace))).sessions
        assert [(one.session_id, one.title) for one in listed] == [(session, "First goal")]
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        await later.until(lambda: len(later.said()) >= len(first.said()))
        assert len(model.asked) == paid
        assert later.user == "First goalSecond goal"
        assert later.said() == first.said()
        assert later.plans[-1] == first.plans[-1]
        for unknown in ("c00", "../../etc/passwd"):
            with pytest.raises(RequestError):
                await connection.load_session(cwd=str(workspace), session_id=unknown, mcp_servers=[])


async def test_a_cancel_ends_the_turn_as_cancelled_and_keeps_what_was_done(workspace: Path) -> None:
    editor, model = Editor(), simple()
    model.unanswered = "two"
    async with agent(editor, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        turn = asyncio.ensure_future(say(connection, session, "Do two steps"))
        await editor.until(lambda: editor.plans and ("Second step", "in_progress") in editor.plans[-1])
        with pytest.raises(RequestError, match="is running"):
            await say(connection, session, "and another")
        await connection.cancel(session_id=session)
        assert await turn == "cancelled"
    assert ("First step", "completed") in editor.plans[-1]


async def test_a_question_is_answered_by_the_next_prompt(workspace: Path) -> None:
    def script(request: Request) -> Reply:
        if request.role != "decomposer":
            return Reply("the answer")
        asked = not any("in blue" in message.content for message in request.messages)
        question: dict[str, Any] = {"tasks": [], "synthesis": None, "clarification": "Which colour?"}
        return Reply(json.dumps(question) if asked else plan(*TWO))

    editor, model = Editor(), ScriptedModel(script)
    async with agent(editor, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(connection, session, "Paint it")
        assert "Which colour?" in editor.said()
        await say(connection, session, "in blue")
    assert editor.said().endswith("the answer")


async def test_twenty_turns_keep_one_session(workspace: Path) -> None:
    editor = Editor()
    async with agent(editor, simple()) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        for number in range(20):
            assert await say(connection, session, f"Goal {number}") == "end_turn"
    assert editor.said() == "the answer of two" * 20


async def test_the_editors_mcp_servers_are_used_and_their_secrets_are_written_nowhere(workspace: Path) -> None:
    entry = small()
    secret = EnvVariable(name="SECRET_TOKEN", value="hunter2-of-the-editor")
    server = McpServerStdio(name="small", command=entry["command"], args=entry["args"], env=[secret])
    told = {"id": "add", "action_type": "tool", "name": "mcp__small__add", "arguments": {"a": 2, "b": 3}}
    model = ScriptedModel(lambda request: Reply(plan(told)))
    editor = Editor()
    async with agent(editor, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[server])).session_id
        await say(connection, session, "Add 2 and 3 with add")
    assert "5" in editor.said()
    kept = [file for file in workspace.parent.rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if b"hunter2-of-the-editor" in file.read_bytes()]


async def test_bad_input_is_told_in_words(workspace: Path) -> None:
    async with agent(Editor(), simple()) as connection:
        with pytest.raises(RequestError, match="does not exist"):
            await connection.new_session(cwd=str(workspace / "no"), mcp_servers=[])
        with pytest.raises(RequestError):
            await say(connection, "c-unknown", "hello")
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        with pytest.raises(RequestError, match="no text"):
            await say(connection, session, "   ")


async def test_killed_while_it_waits_for_a_permission_the_answer_reaches_its_call(
    tmp_path: Path, workspace: Path
) -> None:
    editor, later = Editor(lambda _: "never"), Editor()
    with OpenAIServer(by_server) as server:
        env = environment(tmp_path, server)
        async with agent_process(editor, env) as (connection, process):
            session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
            turn = asyncio.ensure_future(say(connection, session, "Write notes.md"))
            await editor.until(lambda: editor.asked)
            os.kill(process.pid, signal.SIGKILL)
            await asyncio.wait([turn], timeout=60)
            turn.cancel()
        asked = len(server.asked("task"))
        async with agent_process(later, env) as (connection, _):
            await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
            if not later.asked:
                assert await say(connection, session, "/continue") == "end_turn"
            await later.until(lambda: (workspace / "notes.md").exists() and "it said" in later.said())
        assert len(server.asked("task")) == asked + 1
        assert len(server.asked("decomposer")) == 1
