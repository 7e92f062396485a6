"""`weft chat`: line by line, and at a terminal with approvals, Ctrl-C, a kill and what comes after it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_workspace import configure, open_servers
from tests.openai_server import Call, OpenAIServer, Say, Script
from tests.weft.cli.tmux import Terminal, needs_tmux
from tests.weft.recorded import replayed, rows, store
from weft.cli.chat.line import completions, files_below
from weft.cli.chat.typed_goal import typed_goal
from weft.runs.goal import Goal

ASKING = Path(__file__).parents[2] / "mcp_asking_server.py"
Serve = Callable[[Script], OpenAIServer]
CHAT = [sys.executable, "-m", "weft", "chat", "--model", "openai/test-model"]


def goal_of(call: Call) -> str:
    return call.user.rpartition("<goal>\n")[2].partition("\n</goal>")[0]


def llm(task: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": task, "action_type": "llm", "instruction": f"do {task}", "depends_on": list(before), **more}


def script(call: Call) -> Say:
    """A direct answer, unless the goal asks for tasks, for an approval or for something slow."""
    if call.role == "decomposer":
        goal = goal_of(call)
        if "tasks" in goal:
            return Say(json.dumps({"tasks": [llm("one"), llm("two", "one")], "synthesis": None}))
        if "careful" in goal:
            return Say(json.dumps({"tasks": [llm("one"), llm("sent", "one", needs_approval="Send it?")]}))
        if "slow" in goal:
            return Say(json.dumps({"tasks": [llm("one"), llm("slow", "one")]}))
        return Say(json.dumps({"answer": f"Answer to **{goal}**."}))
    if "do slow" in call.user and "remark" not in call.user:
        return Say("at last", after=600)
    return Say("done: " + call.user.rpartition("do ")[2][:20])


def chat(workspace: Path, typed: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [*CHAT[:4], *CHAT[4:6], "--workspace", str(workspace), *flags]
    return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=300, check=False)


def test_without_a_terminal_every_line_is_a_goal(workspace: Path, serve: Serve) -> None:
    server = serve(script)
    done = chat(workspace, "What is a DAG?\n\nAnd a tree?\n", "-q")
    assert (done.returncode, done.stdout) == (0, "Answer to **What is a DAG?**.\nAnswer to **And a tree?**.\n")
    assert len(server.calls) == 2
    assert "Answer to **What is a DAG?**." in server.calls[1].user


def test_json_is_one_document_a_turn_and_continue_goes_on(workspace: Path, serve: Serve) -> None:
    serve(script)
    first, second = map(json.loads, chat(workspace, "one\ntwo\n", "--json").stdout.splitlines())
    (third,) = map(json.loads, chat(workspace, "", "--json", "--continue", "three").stdout.splitlines())
    assert first["conversation"] == second["conversation"] == third["conversation"] is not None
    assert (third["answer"], third["tasks"]) == ("Answer to **three**.", [])


def test_a_turn_that_waits_is_the_exit_status(workspace: Path, serve: Serve) -> None:
    serve(script)
    done = chat(workspace, "be careful\n", "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (6, "waiting")
    done = chat(workspace, "", "--json", "--continue", "--approve-all")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "done")


def test_an_unknown_command_is_an_error_and_the_chat_goes_on(workspace: Path, serve: Serve) -> None:
    serve(script)
    done = chat(workspace, "/nothing\n/undo\nhello\n/cost\n/tasks\n/why x\n/save out.md\n", "-q")
    assert "there is no command '/nothing'" in done.stderr
    assert "there is no turn to take back" in done.stderr
    assert "1 turn," in done.stderr
    assert done.stdout == "Answer to **hello**.\n"


def test_files_and_skills_are_named_in_a_goal(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("text", encoding="utf-8")
    (tmp_path / "my notes.md").write_text("text", encoding="utf-8")
    text = 'Read @notes.md, @"my notes.md" and mail me@example.org about @nothing with $naming-things for $5'
    goal = typed_goal(text, Goal(".", stream=True), ["naming-things"], (tmp_path,))
    assert goal.files == (tmp_path / "notes.md", tmp_path / "my notes.md")
    assert goal.skills == ("naming-things",)
    assert "with naming-things for $5" in goal.text
    assert goal.stream


def test_commands_files_and_skills_are_completed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("text", encoding="utf-8")
    (tmp_path / ".hidden").write_text("text", encoding="utf-8")

    def found(text: str) -> list[str]:
        return [one.text for one in completions(text, {"/plan": "", "/quit": ""}, lambda: ["a-skill"], tmp_path)]

    assert found("/pl") == ["/plan"]
    assert found("read @do") == ["@docs/"]
    assert found("read @docs/g") == ["@docs/guide.md"]
    assert found("use $a") == ["$a-skill"]
    assert found("plain") == []
    assert files_below(tmp_path, "") == ["docs/"]


def test_a_resource_of_a_server_is_given_by_its_name_and_uri(workspace: Path, serve: Serve) -> None:
    server = serve(lambda call: Say(json.dumps({"tasks": [llm("one")]})) if call.role == "decomposer" else Say("done"))
    entry = {"command": sys.executable, "args": ["-S", str(ASKING), "legacy"]}
    configure(workspace, asking=entry, off={**entry, "disabled": True})
    open_servers(workspace).trust_all()
    done = chat(workspace, "Sum up @asking:note://today, and mail @nobody:else\n@off:note://today\n", "--json")
    first, *rest = done.stdout.splitlines()
    assert json.loads(first)["status"] == "done"
    given = next(workspace.glob(".agents/runs/resources/*/today"))
    assert given.read_text(encoding="utf-8") == "Resource note://today:\nbuy bread"
    assert any(given.name in call.user for call in server.asked("task"))
    assert "@off:note://today cannot be read: no MCP server 'off'" in json.loads(rest[-1])["error"]["message"]
    (workspace / ".mcp.json").unlink()


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """A terminal of the size that the test asks for."""
    columns, rows_shown = request.param
    with tempfile.TemporaryDirectory(prefix="weft-tmux-") as folder:  # a socket's path must be short
        opened = Terminal(Path(folder) / "socket", columns, rows_shown)
        yield opened
        opened.close()


def begin(terminal: Terminal, workspace: Path, *flags: str) -> None:
    env = {**os.environ, "TERM": "screen-256color", "COLUMNS": "", "LINES": ""}
    env = {name: value for name, value in env.items() if value and "\n" not in value}
    terminal.start([*CHAT[:6], "--workspace", str(workspace), *flags], env)


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24), (40, 12)], indirect=True, ids=["80x24", "40x12"])
async def test_ten_turns_at_a_terminal(terminal: Terminal, workspace: Path, serve: Serve) -> None:
    serve(script)
    begin(terminal, workspace)
    terminal.wait_for("›")
    for number in range(1, 5):
        terminal.type(f"q{number}", "Enter")
        terminal.wait_for(f"Answer to q{number}.")
    terminal.type("two tasks", "Enter")
    terminal.wait_for("done: two")
    terminal.type("be careful", "Enter")
    terminal.wait_for("Send it?", "Allow it?")
    terminal.type("y", "Enter")
    terminal.wait_for("done: sent")
    terminal.type("slow", "Enter")
    terminal.wait_for("slow")
    await _until(lambda: _started(workspace, "slow"))
    assert any("›" in line for line in terminal.visible)  # there is a line to type at below the tasks
    terminal.type("q8", "Enter")
    terminal.wait_for("waits for the turn")
    terminal.type("C-c")
    terminal.wait_for("Answer to q8.")
    terminal.type("slow again", "Enter")
    await _until(lambda: _started(workspace, "slow"))
    os.kill(_chat_process(terminal), signal.SIGKILL)
    terminal.wait_for("ended 137")
    terminal.close()
    server = serve(lambda call: Say("at last") if call.role == "task" else script(call))
    begin(terminal, workspace, "--continue")
    terminal.wait_for("at last")
    assert not server.asked("decomposer")  # nothing that was paid for is asked again
    terminal.type("q10", "Enter")
    terminal.wait_for("Answer to q10.")
    terminal.type("C-c")
    terminal.wait_for("Ctrl-C again")
    terminal.type("C-c")
    terminal.wait_for("chat --conversation", "ended 0")
    opened = store(workspace)
    runs = [summary.run_id for summary in opened.summaries()]
    statuses = [summary.status for summary in opened.summaries()]
    opened.close()
    assert len(runs) == 10
    assert sorted(statuses) == ["done"] * 9 + ["interrupted"]
    for run_id in runs:
        assert not (await replayed(workspace, rows(workspace, run_id))).drift


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
async def test_commands_and_remarks_at_a_terminal(terminal: Terminal, workspace: Path, serve: Serve) -> None:
    def napping(call: Call) -> Say:
        if call.role == "decomposer" and goal_of(call) == "nap":
            return Say(json.dumps({"tasks": [llm("slow"), llm("after", "slow")]}))
        return script(call)

    serve(napping)
    begin(terminal, workspace)
    terminal.wait_for("›")
    terminal.type("!too early", "Enter")
    terminal.wait_for("No turn runs")
    terminal.type("/plan two tasks", "Enter")
    terminal.wait_for("The plan has 2 tasks", "/plan run runs it")
    terminal.type("/plan run", "Enter")
    terminal.wait_for("done: two")
    terminal.type(f"/save {workspace / 'saved.md'}", "Enter")
    terminal.wait_for("Wrote")
    assert (workspace / "saved.md").read_text(encoding="utf-8").startswith("done: two")
    terminal.type("/open", "Enter")
    terminal.wait_for("The page is")
    terminal.type("/skills", "Enter")
    terminal.wait_for("No skill was selected.")
    terminal.type("/retry", "Enter")
    terminal.wait_for("done: two", times=2)
    terminal.type("nap", "Enter")
    await _until(lambda: _started(workspace, "slow"))
    terminal.type("!in French", "Enter")
    terminal.wait_for("› !in French")
    await _until(lambda: any(row.type == "plan_changed" for row in rows(workspace)))
    terminal.type("C-c")
    terminal.wait_for("interrupted")
    terminal.type("/quit", "Enter")
    terminal.wait_for("ended 130")
    opened = store(workspace)
    assert len(list(opened.summaries())) == 3, "the turn that was done again is taken back, and stays in the journal"
    opened.close()


def _started(workspace: Path, task: str) -> bool:
    """Whether the last run waits for the model of a task."""
    return any(row.type == "call_started" and row.body["task"] == task for row in rows(workspace))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(240):
        while not holds():  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(0.1)


def _chat_process(terminal: Terminal) -> int:
    """The process of the chat, below the shell of the terminal."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(terminal.process)], check=True, capture_output=True, text=True
    )
    return int(found.stdout.split()[0])
