"""`goalwright acp` with the protocol's client: modes, questions, the client's MCP servers, and errors."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from acp.exceptions import RequestError
from acp.helpers import resource_link_block, text_block
from acp.schema import AvailableCommandsUpdate, EnvVariable, McpServerStdio, SseMcpServer, ToolCallStart

from goalwright.interfaces.acp import history
from goalwright.interfaces.acp.updates import Updates
from goalwright.runs.conversations.conversation import Conversation
from goalwright_planner.errors import RequestRefused
from goalwright_planner.events import (
    CallFailed,
    CallFinished,
    CallRetried,
    RunFinished,
    TextStreamed,
    ToolCalled,
    Warned,
)
from goalwright_planner.model import Reply, ToolCall
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.interfaces.acp.client import Editor, agent, say
from tests.goalwright.recorded import goalwright, rows
from tests.mcp_workspace import small

if TYPE_CHECKING:
    from goalwright_planner.events import Event
    from goalwright_planner.model import Request

ASKING = Path(__file__).parents[3] / "mcp_asking_server.py"
HOW = """The MCP server 'asking' asks: How shall the fence be?

- size (integer, required)
- colour (one of red, blue, default "blue")

Answer with a JSON object of these fields."""
WHO = "The MCP server 'asking' asks: Who is there?\n\n- name (string, required)"
TWO: list[dict[str, Any]] = [
    {"id": "one", "title": "First step", "action_type": "llm", "instruction": "First"},
    {"id": "two", "title": "Second step", "action_type": "llm", "instruction": "<<one.output>>", "depends_on": ["one"]},
]


def plan(*tasks: dict[str, Any]) -> str:
    return json.dumps({"tasks": list(tasks), "synthesis": None, "clarification": None})


def simple() -> ScriptedModel:
    """Answer every goal with a plan of two tasks."""
    return ScriptedModel(
        lambda request: Reply(plan(*TWO) if request.role == "decomposer" else f"the answer of {request.task}")
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "goalwright.toml").write_text("", encoding="utf-8")
    return folder


async def test_plan_mode_waits_for_approval_and_survives_loading(workspace: Path) -> None:
    model = simple()
    async with agent(Editor(lambda _: "reject"), model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await connection.set_session_mode(session_id=session, mode_id="plan")
        await say(connection, session, "Do two steps")
        assert {request.role for request in model.asked} == {"decomposer"}
        with pytest.raises(RequestError):
            await connection.set_session_mode(session_id=session, mode_id="yolo")
    async with agent(editor := Editor(), model) as connection:
        loaded = await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        assert loaded.modes.current_mode_id == "plan"
        await say(connection, session, "Do two steps again")
        await say(connection, session, "Do two steps once more")
    assert "task" in {request.role for request in model.asked}
    assert len({call.tool_call_id for call, _ in editor.asked}) == 2, "of two turns"


@pytest.mark.parametrize("first", ["reject", "never"])
async def test_continued_turn_in_plan_mode_asks_for_its_plan_again(workspace: Path, first: str) -> None:
    model, before, after = simple(), Editor(lambda _: first), Editor()
    async with agent(before, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await connection.set_session_mode(session_id=session, mode_id="plan")
        turn = asyncio.ensure_future(say(connection, session, "Do two steps"))
        await before.until(lambda: before.asked)
        if first == "reject":
            await turn
            await say(connection, session, "/continue")
            assert len(before.asked) == 2
    await asyncio.gather(turn, return_exceptions=True)
    assert {request.role for request in model.asked} == {"decomposer"}
    async with agent(after, model) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        await say(connection, session, "/continue")
        assert [call.title for call, _ in after.asked] == ["Run this plan?"]
    assert after.said().endswith("the answer of two")


@pytest.mark.parametrize(("mode", "asked"), [("ask", []), ("plan", ["Run this plan?"])])
async def test_a_question_is_answered_by_the_next_prompt(workspace: Path, mode: str, asked: list[str]) -> None:
    def script(request: Request) -> Reply:
        if request.role != "decomposer":
            return Reply("the answer")
        answered = any("as in colours.md" in message.content for message in request.messages)
        question: dict[str, Any] = {"tasks": [], "synthesis": None, "clarification": "Which colour?"}
        return Reply(plan(*TWO) if answered else json.dumps(question))

    (workspace / "colours.md").write_text("blue\n", encoding="utf-8")
    editor, model = Editor(), ScriptedModel(script)
    async with agent(editor, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await connection.set_session_mode(session_id=session, mode_id=mode)
        await say(connection, session, "Paint it")
        assert "Which colour?" in editor.said()
        linked = resource_link_block("colours.md", (workspace / "colours.md").as_uri())
        await connection.prompt(session_id=session, prompt=[text_block("as in "), linked])
    assert editor.said().endswith("the answer")
    assert [call.title for call, _ in editor.asked] == asked


@pytest.mark.parametrize("died", [False, True])
async def test_history_has_questions_and_answers_and_ends_with_an_open_question(workspace: Path, died: bool) -> None:
    def script(request: Request) -> Reply:
        if request.role != "decomposer":
            return Reply("the answer")
        said = "\n".join(message.content for message in request.messages)
        wanting = next((one for one in ("colour", "size") if f"my {one}" not in said), None)
        question: dict[str, Any] = {"tasks": [], "synthesis": None, "clarification": f"Which {wanting}?"}
        return Reply(plan(*TWO) if wanting is None else json.dumps(question))

    model, live, second, third = ScriptedModel(script), Editor(), Editor(), Editor()
    async with agent(live, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(connection, session, "Paint it")
        await say(connection, session, "my colour is blue")
    assert live.messages == [("agent", "Which colour?"), ("agent", "Which size?")]
    if died:  # before it could record how the turn ended
        with closing(sqlite3.connect(workspace / ".agents" / "journal.sqlite")) as journal, journal:
            journal.execute("DELETE FROM events WHERE id = (SELECT max(id) FROM events WHERE type = 'run_finished')")
            journal.execute("UPDATE runs SET status = 'interrupted'")
    async with agent(second, model) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        asked = [("user", "Paint it"), ("agent", "Which colour?"), ("user", "my colour is blue")]
        assert second.messages == [*asked, ("agent", "Which size?")]
        await say(connection, session, "my size is 3")
    async with agent(third, model) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
    assert third.messages == [*asked, ("agent", "Which size?"), ("user", "my size is 3"), ("agent", "the answer")]


async def test_questions_of_two_tasks_are_asked_in_order_with_their_fields(workspace: Path) -> None:
    server = McpServerStdio(name="asking", command=sys.executable, args=["-S", str(ASKING), "modern"], env=[])
    calls = [("mcp__asking__paint", {"what": "the fence"}), ("mcp__asking__greet", {})]
    tasks = [{"id": name, "action_type": "tool", "name": name, "arguments": given} for name, given in calls]
    editor, given = Editor(), {HOW: '{"size": 3}', WHO: "Ada"}
    async with agent(editor, ScriptedModel(lambda _: Reply(plan(*tasks)))) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[server])).session_id
        await say(connection, session, "Paint and greet")
        asked = [editor.messages[-1][1]]
        await say(connection, session, given[asked[0]])
        asked.append(editor.messages[-1][1])
        await say(connection, session, given[asked[1]])
    assert set(asked) == set(given)
    outputs = {row.body["output"] for row in rows(workspace) if row.type == "task_finished"}
    assert outputs == {"hello Ada", "the fence: accept [('colour', 'blue'), ('size', 3)]"}


@pytest.mark.parametrize(("chosen", "came"), [("allow", "accept"), ("reject", "decline")])
async def test_page_of_a_server_needs_permission_to_open(workspace: Path, chosen: str, came: str) -> None:
    server = McpServerStdio(name="asking", command=sys.executable, args=["-S", str(ASKING), "modern"], env=[])
    visit = {"id": "visit", "action_type": "tool", "name": "mcp__asking__visit", "arguments": {}}
    model = ScriptedModel(lambda _: Reply(plan(visit)))
    before, after = Editor(lambda _: None), Editor(lambda _: chosen)
    async with agent(before, model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[server])).session_id
        await say(connection, session, "Pay")
    async with agent(after, model) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[server])
        await after.until(lambda: any(row.type == "task_finished" for row in rows(workspace)))
    for editor in (before, after):
        (asked,) = (call for call, _ in editor.asked if call.title == "Open this page, then allow")
        assert asked.content[0].content.text.endswith("Please pay\n\nhttps://pay.example/7")
    assert [row.body["output"] for row in rows(workspace) if row.type == "task_finished"] == [came]


async def test_written_artifact_has_its_location(workspace: Path) -> None:
    (workspace / "report.md").write_text("the project's own\n", encoding="utf-8")
    arguments = {"path": "report.md", "content": "# Report\n"}
    told = {"id": "write", "action_type": "tool", "name": "WriteFile", "arguments": arguments}
    editor = Editor()
    async with agent(editor, ScriptedModel(lambda _: Reply(plan(told)))) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(connection, session, "Write a report")
    (call,) = [update for _, update in editor.updates if isinstance(update, ToolCallStart)]
    (path,) = {part.path for part in (*(call.content or ()), *(call.locations or ()))}
    assert Path(path).read_text(encoding="utf-8") == "# Report\n"


async def test_parallel_calls_keep_their_results_in_any_order(workspace: Path) -> None:
    for name in ("slow.md", "quick.md"):
        (workspace / name).write_text(f"the text of {name}\n", encoding="utf-8")

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(plan({"id": "read", "action_type": "llm", "instruction": "Read both"}))
        if request.messages[-1].role == "tool":
            return Reply("read")
        calls = [ToolCall(name, "ReadFile", json.dumps({"path": f"{name}.md"})) for name in ("slow", "quick")]
        return Reply("", tuple(calls), finish="tool_calls")

    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        heard = Recorder()
        run = await runtime.run("Read both", record=heard)
    (slow, quick), told = heard.of(ToolCalled), Updates(workspace, run.run_id)
    (asked,) = (event for event in heard.of(CallFinished) if event.reply.tool_calls)
    started = {update.tool_call_id: update.title for update in told.of(asked)}
    ended = [update for event in (quick, slow) for update in told.of(event)]
    said = {started[update.tool_call_id]: update.content[0].content.text for update in ended}
    assert "quick.md" in said["ReadFile quick.md"]
    assert "slow.md" in said["ReadFile slow.md"]


@pytest.mark.parametrize("is_task", [True, False])
@pytest.mark.parametrize("first", ["cancelled", "unanswered"])
async def test_write_allowed_later_ends_its_original_call(workspace: Path, first: str, is_task: bool) -> None:
    arguments = {"path": "workspace:note.md", "content": "noted"}
    told = {"id": "write", "action_type": "tool", "name": "WriteFile", "arguments": arguments}
    asks = {"id": "write", "action_type": "llm", "instruction": "Write it"}

    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(plan(told if is_task else asks))
        if request.role != "task" or request.messages[-1].role == "tool":
            return Reply("written")
        return Reply("", (ToolCall("c", "WriteFile", json.dumps(arguments)),), finish="tool_calls")

    live = Editor(lambda _: "never" if first == "cancelled" else None)
    async with agent(live, ScriptedModel(script)) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        turn = asyncio.ensure_future(say(connection, session, "Write a note"))
        await live.until(lambda: live.asked)
        if first == "cancelled":
            await connection.cancel(session_id=session)
        assert await turn == ("cancelled" if first == "cancelled" else "end_turn")
        ((call, (_, status)),) = live.tool_calls.items()
        asked = live.asked[0][0]
        assert (asked.tool_call_id, [part.type for part in asked.content]) == (call, ["diff", "content"])
        assert status == ("failed" if first == "cancelled" else "pending")
        live.answer = lambda _: "allow"
        await say(connection, session, "/continue")
    assert (workspace / "note.md").read_text(encoding="utf-8") == "noted"
    assert live.tool_calls == {call: ("WriteFile workspace:note.md", "completed")}
    assert {asked.tool_call_id for asked, _ in live.asked} == {call}
    loaded = Editor()
    async with agent(loaded, ScriptedModel(script)) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
    assert loaded.tool_calls == live.tool_calls


async def test_failed_turn_is_continued(workspace: Path) -> None:
    failing = {"two"}

    def script(request: Request) -> Reply | Exception:
        if request.task in failing:
            return RequestRefused("not today")
        return Reply(plan(*TWO) if request.role == "decomposer" else f"the answer of {request.task}")

    model = ScriptedModel(script)
    async with agent(Editor(), model) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(connection, session, "Do two steps")
    failing.clear()
    editor = Editor()
    async with agent(editor, model) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        offered = [update for _, update in editor.updates if isinstance(update, AvailableCommandsUpdate)]
        assert [one.name for update in offered for one in update.available_commands] == ["continue"]
        await say(connection, session, "/continue")
    assert editor.said().endswith("the answer of two")
    assert [request.task for request in model.asked if request.task].count("one") == 1, "it was paid for before"


async def test_unknown_session_is_refused(workspace: Path) -> None:
    async with agent(Editor(), simple()) as connection:
        for name in ("c20260101T000000000-abcdef", "last"):
            with pytest.raises(RequestError):
                await connection.load_session(cwd=str(workspace), session_id=name, mcp_servers=[])
            with pytest.raises(RequestError):
                await say(connection, name, "hello")
    assert not (workspace / ".agents").exists()


async def test_failed_load_does_not_affect_the_running_turn(workspace: Path, tmp_path: Path) -> None:
    began, gate = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            if request.task == "one":
                began.set()
                await gate.wait()
            return await ScriptedModel.complete(self, request)

    (elsewhere := tmp_path / "elsewhere").mkdir()
    editor = Editor()
    async with agent(editor, Slow(simple().script)) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        turn = asyncio.ensure_future(say(connection, session, "Do two steps"))
        await began.wait()
        for wrong in (elsewhere, elsewhere / "no"):
            with pytest.raises(RequestError, match=r"no session|does not exist"):
                await connection.load_session(cwd=str(wrong), session_id=session, mcp_servers=[])
        gate.set()
        assert await turn == "end_turn"
        assert editor.said() == "the answer of two"
        assert await say(connection, session, "Do two steps") == "end_turn"


async def test_listing_and_creating_sessions_writes_nothing_to_the_folder(tmp_path: Path) -> None:
    (folder := tmp_path / "untouched").mkdir()
    async with agent(Editor(), simple()) as connection:
        assert (await connection.list_sessions(cwd=str(folder))).sessions == []
        await connection.new_session(cwd=str(folder), mcp_servers=[])
    assert list(folder.iterdir()) == []


async def test_mcp_servers_of_the_editor_are_used_without_writing_their_secrets(workspace: Path) -> None:
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


async def test_unusable_servers_are_reported_once_and_not_after_loading(workspace: Path) -> None:
    servers = [
        SseMcpServer(name="old", url="http://127.0.0.1:9/sse", headers=[], type="sse"),
        McpServerStdio(name="gone", command=str(workspace / "no-such-program"), args=[], env=[]),
    ]
    editor = Editor()
    async with agent(editor, simple()) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=servers)).session_id
        for _ in range(2):
            await say(connection, session, "Do two steps")
    warnings = [line for line in editor.said().splitlines() if line.startswith("Warning: ")]
    assert [name for name in ("old", "gone") if any(f"'{name}'" in line for line in warnings)] == ["old", "gone"]
    assert len(warnings) == len(set(warnings)) == 2
    assert editor.said().endswith("the answer of two")
    loaded = Editor()
    async with agent(loaded, simple()) as connection:
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=servers)
        assert loaded.said() == "the answer of two" * 2


async def test_continued_turn_does_not_repeat_warnings(workspace: Path) -> None:
    server = McpServerStdio(name="gone", command=str(workspace / "no-such-program"), args=[], env=[])
    async with agent(Editor(), simple()) as connection:
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[server])).session_id
        await say(connection, session, "Do two steps")
    warned: set[str] = set()
    async with goalwright(workspace, simple()) as runtime:
        told = history.last_turn(Conversation(runtime, session), warned)
    (warning,) = warned
    assert "'gone'" in warning
    assert told.of(Warned(warning)) == []
    assert len(told.of(Warned("another"))) == 1


async def test_invalid_input_is_explained(workspace: Path) -> None:
    async with agent(Editor(), simple()) as connection:
        with pytest.raises(RequestError, match="does not exist"):
            await connection.new_session(cwd=str(workspace / "no"), mcp_servers=[])
        with pytest.raises(RequestError):
            await say(connection, "c-unknown", "hello")
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        with pytest.raises(RequestError, match="no text"):
            await say(connection, session, "   ")


@pytest.mark.parametrize(
    "ending", [CallRetried("synthesis", None, "m", 1, 0.5, "x"), CallFailed("synthesis", None, "m", "x", 1.0)]
)
def test_answer_that_was_cut_off_is_sent_again_in_full(ending: Event, workspace: Path) -> None:
    updates = Updates(workspace)
    events = (TextStreamed("synthesis", None, "Half of"), ending, RunFinished("done", "All of it"))
    told = [update.content.text for event in events for update in updates.of(event)]
    assert told == ["Half of", "\n\n*The answer was cut off here.*\n\n", "All of it"]
    assert updates.of(ending) == []
