"""A session of an editor with `goalwright acp`: golden messages, twenty turns, a cancel, two kills, and loading."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from acp.exceptions import RequestError

from tests.goalwright.interfaces.acp.client import Editor, agent_process, say
from tests.goalwright.interfaces.acp.golden import GoldenEditor, golden
from tests.goalwright.recorded import rows
from tests.openai_server import Call, OpenAIServer, Say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery
    from tests.openai_server import Script

STEPS: list[dict[str, Any]] = [
    {"id": "one", "title": "First step", "action_type": "llm", "instruction": "Do the first"},
    {"id": "two", "title": "Second step", "action_type": "llm", "instruction": "Do the second", "depends_on": ["one"]},
]
NOTE = {"id": "note", "title": "Note it", "action_type": "llm", "instruction": "Note it"}
HALF = [("First step", "completed"), ("Second step", "in_progress")]
COMPLETED = [("First step", "completed"), ("Second step", "completed")]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
CALLS = {"answer": 1, "steps": 3, "write": 3}  # what a turn of each kind costs


class Provider:
    """Answers by the goal of a turn, and counts answers by goal; the task `silent` gets no answer."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        self.silent = ""

    def __call__(self, call: Call) -> Say:
        goal = call.user.rpartition("<goal>\n")[2].partition("\n")[0]
        said = self._said(call, goal)
        self.paid[goal] += not said.after
        return said

    def _said(self, call: Call, goal: str) -> Say:
        kind, number = kind_of(goal), "".join(re.findall(r"\d+", goal))
        if call.role == "decomposer":
            if kind == "answer":
                return Say(json.dumps({"answer": f"Answer {number};"}))
            return Say(json.dumps({"tasks": STEPS if kind == "steps" else [NOTE]}))
        if kind == "write":
            if call.tool_results:
                return Say(f"Write {number}: {call.tool_results[0]['status']};")
            return Say(tool_calls=(("WriteFile", {"path": f"workspace:note{number}.md", "content": "noted\n"}),))
        task = "two" if "Do the second" in call.user else "one"
        return Say(f"Steps {number};", after=600 if task == self.silent else 0)


def kind_of(goal: str) -> str:
    """Return the kind of a goal: an answer, two steps, or a task that writes a file."""
    return "write" if "code" in goal or "write" in goal else "steps" if "steps" in goal else "answer"


def is_on_record(workspace: Path, task: str) -> bool:
    """Return whether the journal shows that the last run waits for the model of a task."""
    return any(row.type == "call_started" and row.body["task"] == task for row in rows(workspace))


async def golden_turn(raw: GoldenEditor, workspace: Path) -> Talk:
    """Run the first turn of a session with the package's golden messages."""
    assert (await raw.ask("initialize", golden("initialize_request")))["protocolVersion"] == 1
    made = await raw.ask("session/new", {**golden("new_session_request"), "cwd": str(workspace)})
    prompt = {**golden("prompt_request"), "sessionId": made["sessionId"]}
    assert (await raw.ask("session/prompt", prompt))["stopReason"] == "end_turn"
    raw.check_forms()
    assert (workspace / "note.md").read_text(encoding="utf-8") == "noted\n"
    return Talk(made["sessionId"], [prompt["prompt"][0]["text"]])


async def plans_and_permissions(talk: Talk, connection: Any, live: Editor, workspace: Path) -> None:
    """Turns 2 to 6: plan updates are sent, and the first of two writes is allowed."""
    await talk.turns(connection, "steps")
    assert live.plans[0] == [("First step", "pending"), ("Second step", "pending")]
    assert HALF in live.plans
    assert live.plans[-1] == COMPLETED
    await talk.turns(connection, "answer", "write", "write", "answer")
    assert [options for _, options in live.asked] == [["allow", "allow_rest", "reject"]] * 2
    assert ((workspace / "note4.md").exists(), (workspace / "note5.md").exists()) == (True, False)
    assert [status for _, status in live.tool_calls.values()] == ["completed", "failed"]
    assert "Write 4: success;Write 5: error;" in live.said()


async def a_cancel(talk: Talk, connection: Any, live: Editor, provider: Provider) -> None:
    """Turn 7: a second prompt is refused, and tasks that finished before the cancel are kept."""
    provider.silent = "two"
    turn = talk.begin(connection, "steps")
    await live.until(lambda: live.plans[-1] == HALF)
    with pytest.raises(RequestError, match="is running"):
        await say(connection, talk.session, "and another")
    await connection.cancel(session_id=talk.session)
    assert await turn == "cancelled"
    assert live.plans[-1] == [("First step", "completed"), ("Second step", "pending")]


async def listed_and_loaded(talk: Talk, connection: Any, workspace: Path, provider: Provider) -> None:
    """Another process lists and loads the session without a call."""
    paid = provider.paid.total()
    (listed,) = (await connection.list_sessions(cwd=str(workspace))).sessions
    assert (listed.session_id, listed.title.partition("\n")[0]) == (talk.session, talk.goals[0])
    for unknown in ("c00", "../../etc/passwd"):
        with pytest.raises(RequestError):
            await connection.load_session(cwd=str(workspace), session_id=unknown, mcp_servers=[])
    await connection.load_session(cwd=str(workspace), session_id=talk.session, mcp_servers=[])
    assert provider.paid.total() == paid


@dataclass
class Talk:
    """The session of the scenario and its goals."""

    session: str
    goals: list[str]

    def next_goal(self, kind: str) -> str:
        self.goals.append(f"{kind} {len(self.goals) + 1}")
        return self.goals[-1]

    async def turns(self, connection: Any, *kinds: str) -> None:
        """Run turns to their end."""
        for kind in kinds:
            assert await say(connection, self.session, self.next_goal(kind)) == "end_turn"

    def begin(self, connection: Any, kind: str) -> asyncio.Future[str]:
        """Start a turn."""
        return asyncio.ensure_future(say(connection, self.session, self.next_goal(kind)))


async def test_twenty_turns_survive_a_cancel_and_two_kills_without_repeated_calls(
    workspace: Path, nursery: Nursery, serve: Callable[[Script], OpenAIServer]
) -> None:
    provider = Provider()
    serve(provider)
    async with agent_process(nursery, MODEL) as process:
        raw = GoldenEditor(process.reader, process.writer)
        talk = await golden_turn(raw, workspace)
        answers = iter(["allow", "reject"])
        live = Editor(lambda _: next(answers))
        connection = await process.connect(live)
        await plans_and_permissions(talk, connection, live, workspace)
        await a_cancel(talk, connection, live, provider)
        await talk.turns(connection, "answer", "answer")
        turn = talk.begin(connection, "steps")
        await live.until(lambda: live.plans[-1] == HALF and is_on_record(workspace, "two"))
        await process.kill(turn)
    provider.silent = ""

    async with agent_process(nursery, MODEL) as process:
        second = Editor(lambda _: "never")
        connection = await process.connect(second)
        await listed_and_loaded(talk, connection, workspace, provider)
        warning, first = raw.said().strip().split("\n\n")
        assert warning.startswith("Warning: the tools of the MCP server 'filesystem' are not used")  # there is none
        assert second.said() == first + live.said()
        assert second.tool_calls.items() >= live.tool_calls.items()
        assert second.plans[-1] == live.plans[-1] == HALF
        assert await say(connection, talk.session, "/continue") == "end_turn"
        assert (second.plans[-1], second.said()[-9:]) == (COMPLETED, "Steps 10;")
        await talk.turns(connection, "answer", "steps", "answer", "answer")
        turn = talk.begin(connection, "write")
        await second.until(lambda: second.asked)
        await process.kill(turn)
    assert not (workspace / "note15.md").exists()

    async with agent_process(nursery, MODEL) as process:
        third = Editor()
        connection = await process.connect(third)
        await connection.load_session(cwd=str(workspace), session_id=talk.session, mcp_servers=[])
        await third.until(lambda: third.said().endswith("Write 15: success;"))  # it was asked again, and allowed
        assert third.said().startswith(second.said())
        assert (workspace / "note15.md").read_text(encoding="utf-8") == "noted\n"
        assert {status for _, status in third.tool_calls.values()} == {"completed", "failed"}
        await talk.turns(connection, "answer", "write", "answer", "steps", "answer")
        heard = third.said(), third.tool_calls, third.plans[-1]
        third.updates.clear()
        await connection.load_session(cwd=str(workspace), session_id=talk.session, mcp_servers=[])
        assert (third.said(), third.tool_calls, third.plans[-1]) == heard
        assert {session for session, _ in third.updates} == {talk.session}

    assert third.user.startswith(talk.goals[0])
    assert third.user.endswith("".join(talk.goals[1:]))
    expected = {goal: CALLS[kind_of(goal)] for goal in talk.goals}
    expected[talk.goals[6]] -= 1  # its second step was cancelled before it was answered
    assert provider.paid == expected
