"""`goalwright chat` without a terminal, and at one with approvals, Ctrl-C, a kill and the continuation."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx
import pytest

from goalwright.interfaces.cli.chat.chat import typed_goal
from goalwright.interfaces.cli.chat.prompt import completions, files_below
from goalwright.runs.goal import Goal
from tests.goalwright.interfaces.cli.tmux import Terminal, needs_tmux
from tests.goalwright.recorded import rows, store
from tests.mcp_workspace import configure, open_servers
from tests.nursery import Nursery, Process, Ran
from tests.openai_server import Call, Fail, OpenAIServer, Say, Script
from tests.skills.tree import put

ASKING = Path(__file__).parents[3] / "mcp_asking_server.py"
Serve = Callable[[Script], OpenAIServer]
CHAT = ["chat", "--model", "openai/test-model"]
Talk = Callable[..., Ran]


def goal_of(call: Call) -> str:
    return call.user.rpartition("<goal>\n")[2].partition("\n</goal>")[0]


def llm(task: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": task, "action_type": "llm", "instruction": f"do {task}", "depends_on": list(before), **more}


def script(call: Call) -> Say:
    """Answer directly, unless the goal asks for tasks, a quotation, an approval or something slow."""
    if call.role == "decomposer":
        goal = goal_of(call)
        if "cite" in goal:
            asks = {"needs_approval": "Send it?"} if "careful" in goal else {}
            return Say(json.dumps({"tasks": [llm("cite") | {"instruction": "do cite <<turn1.one.output>>"} | asks]}))
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


@pytest.fixture
def chat(workspace: Path, nursery: Nursery) -> Talk:
    """`goalwright chat` with lines on stdin."""

    def talk(typed: str, *flags: str) -> Ran:
        return nursery.run([*CHAT, *flags], cwd=workspace, stdin=typed)

    return talk


def test_without_a_terminal_every_line_is_a_goal(chat: Talk, serve: Serve) -> None:
    server = serve(script)
    done = chat("What is a DAG?\n\nAnd a tree?\n", "-q")
    assert (done.status, done.out) == (0, "Answer to **What is a DAG?**.\nAnswer to **And a tree?**.\n")
    assert len(server.calls) == 2
    assert "Answer to **What is a DAG?**." in server.calls[1].user


def test_json_prints_one_document_per_turn_and_continue_works(chat: Talk, serve: Serve) -> None:
    serve(script)
    first, second = map(json.loads, chat("one\ntwo\n", "--json").out.splitlines())
    (third,) = map(json.loads, chat("", "--json", "--continue", "three").out.splitlines())
    assert first["conversation"] == second["conversation"] == third["conversation"] is not None
    assert (third["answer"], third["tasks"]) == ("Answer to **three**.", [])


def test_failure_to_start_a_turn_is_reported_and_the_next_line_runs(chat: Talk, serve: Serve) -> None:
    serve(script)
    done = chat("/model nowhere/none\none\n/model openai/test-model\ntwo\n", "--json")
    failed, answered = map(json.loads, done.out.splitlines())
    assert (done.status, failed["error"]["code"], answered["answer"]) == (0, "UNKNOWN_MODEL", "Answer to **two**.")


def test_line_that_is_too_long_is_refused_and_the_next_one_runs(chat: Talk, serve: Serve) -> None:
    server = serve(script)
    whole = f"{'w' * 199_999}\n"
    done = chat(f"{'x' * 450_000}\n{'y' * 200_000}\nhello\n{whole}{'z' * 200_001}", "--json")
    first, longest, hello, shorter, last = map(json.loads, done.out.splitlines())
    assert first["error"]["message"] == "the goal has 450,000 characters, more than 200,000"
    assert last["error"]["message"] == "the goal has 200,001 characters, more than 200,000"
    assert (len(longest["goal"]), len(shorter["goal"]), hello["answer"]) == (200_000, 199_999, "Answer to **hello**.")
    assert (done.status, len(server.asked("decomposer"))) == (2, 3)


def test_dash_means_stdin(chat: Talk, serve: Serve) -> None:
    serve(script)
    assert chat("What is a DAG?\n", "-q", "-").out == "Answer to **What is a DAG?**.\n"


def test_waiting_turn_sets_the_exit_status(chat: Talk, serve: Serve) -> None:
    serve(script)
    done = chat("be careful\n", "--json")
    turn = json.loads(done.out)
    assert (done.status, turn["status"]) == (6, "waiting")
    assert f"Answer with: goalwright resume {turn['run_id']} --approve" in done.err
    done = chat("", "--json", "--continue", "--approve-all")
    assert (done.status, json.loads(done.out)["status"]) == (0, "done")


@pytest.mark.parametrize("form", ["--json", "-q"])
def test_closed_stdout_stops_further_goals(
    form: str, workspace: Path, nursery: Nursery, serve: Serve, tmp_path: Path
) -> None:
    server = serve(script)
    (tmp_path / "goals").write_text("What is a DAG?\nAnd a tree?\n", encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    with (
        (tmp_path / "goals").open(encoding="utf-8") as goals,
        nursery.start(["-m", "goalwright", *CHAT, form], cwd=workspace, stdin=goals, stdout=write) as process,
    ):
        os.close(write)
        assert process.wait(120) == 0
    assert len(server.calls) == 1


@pytest.mark.parametrize("form", ["--json", "-q"])
def test_interrupted_turn_prints_the_resume_command(form: str, workspace: Path, nursery: Nursery, serve: Serve) -> None:
    server = serve(script)
    command = ["-m", "goalwright", *CHAT, form, "be slow"]
    with nursery.start(command, cwd=workspace, stdout=PIPE, stderr=PIPE) as process:
        while not any("do slow" in call.user for call in server.calls if call.role == "task"):
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(120)
    assert process.returncode == 130
    assert "Kept: 1 of 2 tasks, after 3 calls. Resume with:\n  goalwright resume " in err


def test_continued_turn_stops_like_a_new_one(
    workspace: Path, nursery: Nursery, chat: Talk, serve: Serve, tmp_path: Path
) -> None:
    server = serve(script)
    (tmp_path / "goals").write_text("hello\n", encoding="utf-8")

    def stopped(*flags: str) -> str:
        server.calls.clear()
        with (
            (tmp_path / "goals").open(encoding="utf-8") as goals,
            nursery.start(
                ["-m", "goalwright", *CHAT, "-q", *flags], cwd=workspace, stdin=goals, stdout=PIPE
            ) as process,
        ):
            while not any("do slow" in call.user for call in server.asked("task")):
                time.sleep(0.05)
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(120)
        assert process.returncode == 130
        return out

    assert "hello" not in stopped("be slow") + stopped("--continue")
    assert not any(goal_of(call) == "hello" for call in server.calls)


def test_next_line_runs_after_a_turn_that_cannot_be_continued(chat: Talk, serve: Serve) -> None:
    serve(script)
    assert chat("be careful\n").status == 6
    done = chat("hello\n/undo\n", "--json", "--continue", "--max-cost", "1")
    refused = [json.loads(line)["error"]["code"] for line in done.out.splitlines()]
    assert (done.status, refused) == (4, ["UNKNOWN_PRICE", "UNKNOWN_PRICE"])
    assert "Undid turn 1" in done.err


def test_unknown_command_is_an_error_and_the_chat_continues(workspace: Path, chat: Talk, serve: Serve) -> None:
    serve(script)
    done = chat("/nothing\n/undo\nhello\n/cost\n/tasks\n/why x\n/save out.md\n/open\n", "-q")
    assert "there is no command '/nothing'" in done.err
    assert "there is no turn to take back" in done.err
    assert "1 turn," in done.err
    assert "The page is file://" in done.err  # a server would end with the last line
    assert done.out == "Answer to **hello**.\n"
    assert (workspace / "out.md").read_text(encoding="utf-8") == done.out


def test_retry_continues_a_failed_turn(chat: Talk, serve: Serve) -> None:
    refused: list[Call] = []

    def refusing(call: Call) -> Say | Fail:
        if "do two" in call.user and not refused:
            refused.append(call)
            return Fail(400, "not today")
        return script(call)

    server = serve(refusing)
    done = chat("some tasks\n/retry\n", "--json")
    first, second = map(json.loads, done.out.splitlines())
    assert (first["status"], second["status"], done.status) == ("partial", "done", 0)
    assert first["run_id"] == second["run_id"]
    assert sum("do one" in call.user for call in server.asked("task")) == 1


def test_retry_of_a_done_turn_keeps_its_plan_and_files(workspace: Path, chat: Talk, serve: Serve) -> None:
    server = serve(script)
    (workspace / "notes.md").write_text("rare words", encoding="utf-8")
    write = {"path": "workspace:new.md", "content": "new\n"}
    tasks = [llm("own"), {"id": "write", "action_type": "tool", "name": "WriteFile", "arguments": write}]
    (workspace / "plan.json").write_text(json.dumps({"tasks": tasks, "synthesis": "short"}), encoding="utf-8")
    flags = ("--json", "--write", "--approve-all")
    done = chat("/retry\n", *flags, "--plan", "plan.json", "Read @notes.md")
    first, again = map(json.loads, done.out.splitlines())
    assert (first["status"], again["status"], server.asked("decomposer")) == ("done", "done", []), done.out
    assert [task["id"] for task in again["tasks"]] == ["own", "write"]
    assert (first["run_id"] != again["run_id"], first["goal"] == again["goal"]) == (True, True)
    assert all("notes.md" in call.user for call in server.asked("task"))
    (workspace / "new.md").write_text("changed since\n", encoding="utf-8")
    assert "not restored, because it has changed since: new.md" in chat("/retry\n", *flags, "--continue").err
    (workspace / "notes.md").unlink()
    refused = chat("/retry\n/tasks\n", *flags, "--continue")
    assert (refused.status, "notes.md: no such file" in refused.out) == (2, True)
    assert "done      own" in refused.err  # the turn is still there


@pytest.fixture
def command(workspace: Path, nursery: Nursery) -> Talk:
    """Run other goalwright commands in the workspace."""
    return lambda *words: nursery.run(list(words), cwd=workspace)


def test_undone_turn_no_longer_waits_for_an_answer(chat: Talk, command: Talk, serve: Serve) -> None:
    server = serve(script)
    done = chat("be careful\n/undo\n", "--json")
    turn = json.loads(done.out)
    assert (turn["status"], "Undid turn 1" in done.err) == ("waiting", True)
    assert json.loads(command("approvals", "--json").out) == []
    refused = command("resume", turn["run_id"], "--approve", turn["waiting"][0]["id"])
    assert (refused.status, f"run {turn['run_id']} is a turn that was taken back" in refused.err) == (2, True)
    assert len(server.asked("task")) == 1


def test_plan_runs_as_the_first_turn_and_the_next_one_sees_it(workspace: Path, chat: Talk, serve: Serve) -> None:
    server = serve(script)
    plan = {"goal": "Do both", "tasks": [llm("one"), llm("two", "one")]}
    (workspace / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    first, second = map(json.loads, chat("And now?\n", "--json", "--plan", "plan.json").out.splitlines())
    assert (first["goal"], [task["id"] for task in first["tasks"]]) == ("Do both", ["one", "two"])
    assert (second["answer"], second["conversation"]) == ("Answer to **And now?**.", first["conversation"])
    (asked,) = server.asked("decomposer")  # the first turn had its plan
    assert "Do both" in asked.user
    (third,) = map(json.loads, chat("", "--json", "--continue", "--plan", "plan.json", "Again").out.splitlines())
    assert (third["goal"], len(third["tasks"]), third["conversation"]) == ("Again", 2, first["conversation"])
    refused = chat("", "--plan", "missing.yaml", "x")
    assert (refused.status, "missing.yaml" in refused.err) == (2, True)


def test_plans_can_refer_to_earlier_turns(
    workspace: Path, chat: Talk, command: Talk, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(script)
    monkeypatch.setenv("EDITOR", "sed -i 's/do cite/do cite again/'")
    done = chat("two tasks\n/plan cite it\n/plan edit\n/plan run\n/plan edit\n/plan run\nbe careful, cite\n", "--json")
    _, first, again, waiting = map(json.loads, done.out.splitlines())
    assert (first["status"], again["status"], waiting["status"]) == ("done", "done", "waiting"), done.err
    quoted = [call.user for call in server.asked("task") if "do cite" in call.user]
    assert "do cite again done: one" in quoted[0]
    assert "do cite again again done: one" in quoted[1]
    assert "<turn-goal>\ntwo tasks" in next(
        call.user for call in server.asked("decomposer") if goal_of(call) == "cite it"
    )
    assert command("plan", "--of", "last", "-o", "plan.yaml").status == 0
    resumed = command("resume", "last", "--plan", "plan.yaml", "--approve-all", "--json")
    assert (resumed.status, json.loads(resumed.out)["status"]) == (0, "done"), resumed.err
    (last,) = map(json.loads, chat("", "--json", "--continue", "--plan", "plan.yaml", "--approve-all").out.splitlines())
    assert (last["status"], last["conversation"]) == ("done", first["conversation"])


def test_recipe_runs_as_the_first_turn(chat: Talk, command: Talk, serve: Serve) -> None:
    server = serve(script)
    assert chat("two tasks about tea\n").status == 0
    saved = command("recipes", "save", "last", "--name", "pair", "--parameter", "what=tea")
    assert saved.status == 0, saved.err
    server.calls.clear()
    (turn,) = map(json.loads, chat("", "--json", "--recipe", "pair", "what=ink").out.splitlines())
    assert (turn["goal"], turn["recipe"], len(turn["tasks"])) == ("two tasks about ink", "pair", 2)
    assert not server.asked("decomposer")
    refused = chat("", "--recipe", "pair", "ink")
    assert (refused.status, "goalwright chat --recipe pair NAME=VALUE" in refused.err) == (2, True)


def test_a_chat_follows_up_on_a_run(chat: Talk, command: Talk, serve: Serve) -> None:
    server = serve(script)
    assert command("run", *CHAT[1:], "two tasks about tea").status == 0
    first, second = map(json.loads, chat("And then?\n", "--json", "--after", "last", "Shorter").out.splitlines())
    assert first["conversation"] == second["conversation"] is not None
    before, after = server.asked("decomposer")[-2:]
    assert "two tasks about tea" in before.user
    assert "Answer to **Shorter**." in after.user


def test_answer_applies_to_the_first_turn(chat: Talk, serve: Serve) -> None:
    server = serve(script)
    assert chat("two\n", "--answer", "the blue one", "one").status == 0
    assert ["the blue one" in call.user for call in server.calls] == [True, False]


def test_dry_run_shows_the_first_turn_and_records_nothing(workspace: Path, chat: Talk, serve: Serve) -> None:
    server = serve(script)
    (workspace / "notes.md").write_text("rare words", encoding="utf-8")
    (line,) = chat("", "--json", "--dry-run", "Read @notes.md").out.splitlines()  # as every document of a chat
    shown = json.loads(line)
    assert (shown["goal"], server.calls) == ("Read @notes.md", [])
    assert "notes.md" in str(shown["prompt"])
    assert not (workspace / ".agents" / "journal.sqlite").exists()
    assert chat("What is a DAG?\n").status == 0
    shown = json.loads(chat("", "--json", "--dry-run", "--continue", "And a tree?").out)
    assert "Answer to **What is a DAG?**." in str(shown["prompt"])
    assert len(server.calls) == 1


def test_the_last_answer_is_written_to_a_file(workspace: Path, chat: Talk, serve: Serve) -> None:
    serve(script)
    done = chat("two\n", "-o", "out.md", "one")
    assert done.out == "Answer to **one**.\nAnswer to **two**.\n"
    assert done.err.count("Answer written to out.md") == 2
    assert (workspace / "out.md").read_text(encoding="utf-8") == "Answer to **two**.\n"
    refused = chat("", "-o", "missing/out.md", "one")
    assert (refused.status, "does not exist" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--plan", "-", "x"), "`goalwright run --plan -`"),
        (("--after", "last", "--continue", "x"), "leave --after out"),
        (("--after", "last"), "--after applies to the first turn, and no goal was given"),
        (("--dry-run",), "--dry-run applies to the first turn, and no goal was given"),
        (("--answer", "x"), "goalwright resume RUN --answer TEXT"),
        (("--review", "x"), "--review needs a terminal"),
        (("--recipe", "a", "--plan", "b"), "--recipe and --plan cannot be used together"),
        (("two", "words"), "put text of several words in quotes"),
    ],
)
def test_unsupported_flags_are_refused(chat: Talk, flags: tuple[str, ...], message: str) -> None:
    done = chat("", *flags)
    assert (done.status, message in done.err) == (2, True), done.err


def test_goal_names_files_after_at_signs(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("text", encoding="utf-8")
    (tmp_path / "my notes.md").write_text("text", encoding="utf-8")
    text = 'Read @notes.md, @"my notes.md" and mail me@example.org about @nothing with $naming-things for $5'
    goal = typed_goal(text, Goal(".", skills=("a-skill",), stream=True), (tmp_path,))
    assert goal.files == (tmp_path / "notes.md", tmp_path / "my notes.md")
    assert (goal.text, goal.skills) == (text, ("a-skill",))
    assert goal.stream


def test_typed_goal_names_skills_like_a_run(workspace: Path, chat: Talk) -> None:
    put(workspace / "skills/deploy-app", "deploy-app", "Deploys the app.\ndisable-model-invocation: true")

    def selected(goal: str) -> list[str]:
        return [one["name"] for one in json.loads(chat("", "--json", "--dry-run", goal).out)["selected"]]

    assert selected("$deploy-app, now") == ["deploy-app"]
    assert "deploy-app" not in selected("Plan the release, but do not use $deploy-app")
    assert "deploy-app" not in selected("What does `echo $deploy-app` print?")


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


def test_goal_names_resources_by_server_and_uri(workspace: Path, chat: Talk, serve: Serve) -> None:
    server = serve(lambda call: Say(json.dumps({"tasks": [llm("one")]})) if call.role == "decomposer" else Say("done"))
    entry = {"command": sys.executable, "args": ["-S", str(ASKING), "legacy"]}
    configure(workspace, asking=entry, off={**entry, "disabled": True})
    open_servers(workspace).trust_all()
    done = chat("Sum up @asking:note://today, and mail @nobody:else\n@off:note://today\n", "--json")
    first, *rest = done.out.splitlines()
    assert json.loads(first)["status"] == "done"
    given = next(workspace.glob(".agents/runs/resources/*/today"))
    assert given.read_text(encoding="utf-8") == "Resource note://today:\nbuy bread"
    assert any(given.name in call.user for call in server.asked("task"))
    assert "@off:note://today cannot be read: no MCP server 'off'" in json.loads(rest[-1])["error"]["message"]
    (workspace / ".mcp.json").unlink()


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """A terminal of the requested size."""
    columns, rows_shown = request.param
    with tempfile.TemporaryDirectory(prefix="goalwright-tmux-") as folder:  # a socket's path must be short
        opened = Terminal(Path(folder) / "socket", columns, rows_shown)
        yield opened
        opened.close()


Begin = Callable[..., Process]


@pytest.fixture
def begin(terminal: Terminal, workspace: Path, nursery: Nursery) -> Iterator[Begin]:
    """Start `goalwright chat` in the terminal."""
    with ExitStack() as running:

        def start(*flags: str) -> Process:
            env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
            command = [*CHAT, "--workspace", str(workspace), *flags]
            return running.enter_context(terminal.start(nursery, command, env))

        yield start


@needs_tmux
@pytest.mark.parametrize("terminal", [(40, 12)], indirect=True, ids=["40x12"])
async def test_ten_turns_at_a_terminal(terminal: Terminal, begin: Begin, workspace: Path, serve: Serve) -> None:
    serve(script)
    chatting = begin()
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
    await _until(terminal, lambda: _started(workspace, "slow"))
    assert any("›" in line for line in terminal.visible)  # there is a line to type at below the tasks
    terminal.type("q8", "Enter")
    terminal.wait_for("queued until the turn")
    terminal.type("C-c")
    terminal.wait_for("Answer to q8.")
    terminal.type("slow again", "Enter")
    await _until(terminal, lambda: _started(workspace, "slow"))
    chatting.kill()
    assert chatting.wait(240) == -signal.SIGKILL
    terminal.close()
    server = serve(lambda call: Say("at last") if call.role == "task" else script(call))
    chatting = begin("--continue")
    terminal.wait_for("at last")
    assert not server.asked("decomposer")  # nothing that was paid for is asked again
    terminal.type("q10", "Enter")
    terminal.wait_for("Answer to q10.")
    assert _left(terminal, chatting, lambda: terminal.type("C-c")) == 0
    opened = store(workspace)
    runs = [summary.run_id for summary in opened.summaries()]
    statuses = [summary.status for summary in opened.summaries()]
    opened.close()
    assert len(runs) == 10
    assert sorted(statuses) == ["done"] * 9 + ["interrupted"]


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
def test_ctrl_c_as_a_signal_leaves_too(terminal: Terminal, begin: Begin, serve: Serve) -> None:
    serve(script)
    chatting = begin("q1")
    terminal.wait_for("Answer to q1.", "· run ")  # the answer is shown before the turn has ended
    assert _left(terminal, chatting, lambda: chatting.send_signal(signal.SIGINT)) == 0


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
async def test_ctrl_c_stops_a_command(terminal: Terminal, begin: Begin, workspace: Path, serve: Serve) -> None:
    def thinking(call: Call) -> Say:
        return Say("{}", after=600) if call.role == "decomposer" and goal_of(call) == "think" else script(call)

    server = serve(thinking)
    chatting = begin()
    terminal.wait_for("›")
    terminal.type("/plan think", "Enter")
    await _until(terminal, lambda: len(server.asked("decomposer")) == 1)
    terminal.type("C-c")
    terminal.wait_for("Stopping …")
    terminal.type("q1", "Enter")
    terminal.wait_for("Answer to q1.")
    terminal.type("/plan think", "Enter")
    await _until(terminal, lambda: len(server.asked("decomposer")) == 3)
    terminal.type("C-c")
    terminal.wait_for("Stopping …", times=2)
    terminal.type("/quit", "Enter")
    terminal.wait_for("chat --conversation")
    assert chatting.wait(240) == 0


def _left(terminal: Terminal, chatting: Process, press: Callable[[], None]) -> int:
    """Press Ctrl-C until the chat exits, and return its exit status."""
    until = time.monotonic() + 240
    presses = 0
    while chatting.poll() is None and time.monotonic() < until:
        if terminal.screen.count("Ctrl-C again") == presses:
            press()
            presses += 1
        time.sleep(0.05)
    assert presses > 1
    terminal.wait_for("chat --conversation")
    return chatting.wait(0)


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
def test_each_plan_is_shown_before_it_runs(
    terminal: Terminal, begin: Begin, workspace: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(script)
    monkeypatch.setenv("EDITOR", "sed -i 's/do cite/do cite again/'")
    chatting = begin("--review", "two tasks")
    terminal.wait_for("The plan has 2 tasks", "Run this plan?")
    assert not server.asked("task")
    terminal.type("y", "Enter")
    terminal.wait_for("done: two")
    terminal.type("q2", "Enter")
    terminal.wait_for("Answer to q2.")
    terminal.type("other tasks", "Enter")
    terminal.wait_for("Run this plan?", times=2)
    terminal.type("n", "Enter")
    terminal.wait_for("declined in review")
    terminal.type("/retry", "Enter")
    terminal.wait_for("Run this plan?", times=3)
    terminal.type("n", "Enter")
    terminal.wait_for("declined in review", times=2)
    assert len(server.asked("task")) == 2
    terminal.type("cite it", "Enter")
    terminal.wait_for("Run this plan?", times=4)
    terminal.type("e", "Enter")
    terminal.wait_for("Run this plan?", times=5)
    terminal.type("y", "Enter")
    terminal.wait_for("done: cite")
    assert "do cite again done: one" in server.asked("task")[-1].user
    terminal.type("/quit", "Enter")
    terminal.wait_for("chat --conversation")
    chatting.wait(240)
    terminal.close()
    assert [run.status for run in store(workspace).summaries()] == ["done", "interrupted", "done", "done"]
    (workspace / "plan.json").write_text(json.dumps({"tasks": [llm("own")]}), encoding="utf-8")
    chatting = begin(
        "--plan", str(workspace / "plan.json")
    )  # there is a goal: nothing is asked about the turn that was left
    terminal.wait_for("done: own")
    terminal.type("/quit", "Enter")
    terminal.wait_for("chat --conversation")
    chatting.wait(240)


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
def test_plan_is_shown_again_after_a_kill(terminal: Terminal, begin: Begin, serve: Serve) -> None:
    server = serve(script)
    chatting = begin("--review", "two tasks")
    terminal.wait_for("Run this plan?")
    chatting.kill()
    chatting.wait(240)
    terminal.close()
    chatting = begin("--continue", "--review")
    terminal.wait_for("The plan has 2 tasks", "Run this plan?")
    assert not server.asked("task")
    terminal.type("y", "Enter")
    terminal.wait_for("done: two")
    terminal.type("/quit", "Enter")
    terminal.wait_for("chat --conversation")
    assert (chatting.wait(240), len(server.asked("decomposer"))) == (0, 1)


@needs_tmux
@pytest.mark.parametrize("terminal", [(80, 24)], indirect=True, ids=["80x24"])
async def test_commands_and_remarks_at_a_terminal(
    terminal: Terminal, begin: Begin, workspace: Path, serve: Serve
) -> None:
    def napping(call: Call) -> Say:
        if call.role == "decomposer" and goal_of(call) == "nap":
            return Say(json.dumps({"tasks": [llm("slow"), llm("after", "slow")]}))
        return script(call)

    serve(napping)
    chatting = begin()
    terminal.wait_for("›")
    terminal.type("!too early", "Enter")
    terminal.wait_for("no running turn")
    terminal.type("/plan two tasks", "Enter")
    terminal.wait_for("The plan has 2 tasks", "/plan run runs it")
    terminal.type("/plan run", "Enter")
    terminal.wait_for("done: two")
    terminal.type(f"/save {workspace / 'saved.md'}", "Enter")
    terminal.wait_for("Wrote")
    assert (workspace / "saved.md").read_text(encoding="utf-8").startswith("done: two")
    terminal.type("/open", "Enter")
    served = _page_shows(terminal.wait_for("#token="), "two tasks")
    terminal.type("/skills", "Enter")
    terminal.wait_for("No skill was selected.")
    terminal.type("/retry", "Enter")
    terminal.wait_for("· run ", times=2)  # the answer is shown before the turn has ended
    terminal.type("nap", "Enter")
    await _until(terminal, lambda: _started(workspace, "slow"))
    terminal.type("!in French", "Enter")
    terminal.wait_for("› !in French")
    await _until(terminal, lambda: any(row.type == "plan_changed" for row in rows(workspace)))
    terminal.type("C-c")
    terminal.wait_for("interrupted")
    terminal.type("/quit", "Enter")
    assert chatting.wait(240) == 130
    with pytest.raises(httpx.ConnectError):
        _asked(served)
    opened = store(workspace)
    assert len(list(opened.summaries())) == 3, "the turn that was done again is taken back, and stays in the journal"
    opened.close()


def _page_shows(screen: str, goal: str) -> str:
    """Request the conversation like the page, with and without its token; returns its address."""
    found = re.search(r"The page is (\S+)/conversations/(\S+)#token=(\S+)", screen)
    assert found is not None
    served, conversation, token = found.groups()
    shown = _asked(f"{served}/api/conversations/{conversation}", Authorization=f"Bearer {token}")
    assert [turn["goal"] for turn in shown.json()["turns"]] == [goal]
    assert _asked(f"{served}/api/conversations/{conversation}").status_code == 401
    return served


def _asked(address: str, **headers: str) -> httpx.Response:
    return httpx.get(address, headers=headers, timeout=120)


def _started(workspace: Path, task: str) -> bool:
    """Return whether the last run waits for the model of a task."""
    return any(row.type == "call_started" and row.body["task"] == task for row in rows(workspace))


async def _until(terminal: Terminal, holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < until, terminal.screen
        await asyncio.sleep(0.1)
