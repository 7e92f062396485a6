"""Plans that change, as users and scripts meet them: real processes, a real server, real kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
GOAL = "Write the API documentation of the to-do service"
SHEET = {"id": "sheet", "action_type": "tool", "name": "excel_read", "arguments": {"path": "gone.xlsx"}}
NOTES = {"id": "notes", "action_type": "llm", "instruction": "Read the notes"}
BRIEF = {
    "id": "brief", "action_type": "llm", "instruction": "Brief: <<sheet.output>>", "depends_on": ["sheet", "notes"],
}  # fmt: skip
PLAN = {"tasks": [SHEET, NOTES, BRIEF], "synthesis": "short"}
GUESS = {"id": "guess", "action_type": "llm", "instruction": "Guess the numbers", "depends_on": []}


def change(*added: dict[str, Any], **rest: Any) -> Say:
    return Say(json.dumps({"add": added, "drop": [], "rewire": {}, "synthesis": None, "give_up": None, **rest}))


REPLACED = change(GUESS, rewire={"sheet": "guess"})


def replacing(after: float = 0.0) -> Script:
    """The sheet is gone; the planner guesses instead, after a while."""
    return scripted(PLAN, change=lambda _: Say(REPLACED.text, after=after))


def test_a_failed_tool_is_replanned_and_the_run_is_done(
    workspace: Path, serve: Serve, goalwright: Goalwright, tmp_path: Path
) -> None:
    server = serve(replacing())
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["answer"], document["error"]) == ("done", "the answer", None)
    assert {task["id"]: task["status"] for task in document["tasks"]} == {
        "sheet": "failed", "notes": "done", "brief": "done", "guess": "done",
    }  # fmt: skip
    assert [call.role for call in server.calls].count("replanner") == 1
    (planned, replanned) = (server.asked(role)[0] for role in ("decomposer", "replanner"))
    assert planned.body["messages"][0] == replanned.body["messages"][0]
    assert "plan: 1 task added, sheet → guess (task 'sheet' failed, and was needed for: brief)" in ran.err

    shown = goalwright("trace", "show", cwd=workspace).out
    assert "changed by a model: plan: 1 task added, sheet → guess" in shown
    assert "(replan)" in shown
    timeline = json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)
    (change,) = timeline["plan_changes"]
    assert change.pop("at") > 0
    assert [change] == [
        {"cause": "replan", "added": ["guess"], "dropped": [], "rewired": {"sheet": "guess"},
         "note": "task 'sheet' failed, and was needed for: brief"},
    ]  # fmt: skip
    assert "[system]" in goalwright("trace", "show", "--task", "(replan)", cwd=workspace).out

    other, trace = tmp_path / "other", tmp_path / "run.jsonl"
    (other / "skills").mkdir(parents=True)
    (workspace / "skills" / "cataloging-apis").rename(other / "skills" / "cataloging-apis")
    assert goalwright("trace", "export", "-o", str(trace), cwd=workspace).status == 0
    replay = goalwright("replay", "--strict", "--json", str(trace), cwd=other)
    assert (replay.status, json.loads(replay.out)["drift"]) == (0, []), replay.out
    (other / "skills" / "cataloging-apis").rename(workspace / "skills" / "cataloging-apis")


def test_without_replans_a_failed_tool_leaves_the_run_in_part(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(replacing())
    ran = goalwright("run", "--json", "--max-replans", "0", *MODEL, GOAL, cwd=workspace)
    assert (ran.status, json.loads(ran.out)["status"]) == (1, "partial")
    assert server.asked("replanner") == []
    assert goalwright("run", "--max-replans", "-1", *MODEL, GOAL, cwd=workspace).status == 2
    again = goalwright("resume", "--json", "--max-replans", "1", cwd=workspace)
    assert (again.status, json.loads(again.out)["status"]) == (0, "done"), again.err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_killed_while_its_plan_is_changed_goes_on(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery, number: int
) -> None:
    server = serve(replacing(after=30))
    process = nursery.start(
        ["-m", "goalwright", "run", *MODEL, GOAL], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=workspace
    )
    deadline = time.monotonic() + 60
    while not server.asked("replanner") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, number)
    process.wait(120)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    before = len(server.calls)
    server.script = replacing()
    ran = goalwright("resume", "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)["status"]) == (0, "done"), ran.err
    assert [call.role for call in server.calls[before:]] == ["replanner", "task", "task", "synthesis"]


def test_a_person_asks_for_a_change(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted({"tasks": [NOTES]}, change=lambda _: change(GUESS | {"depends_on": ["notes"]})))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 0
    ran = goalwright("replan", "last", "Guess the numbers too", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["answer"]) == ("done", "did: Guess the numbers")
    assert "the person asks for this: Guess the numbers too" in server.asked("replanner")[0].user
    assert "asked to change the plan: Guess the numbers too" in ran.err

    server.script = scripted({"tasks": [NOTES]}, change=lambda _: Say('{"give_up": "that is all"}'))
    ran = goalwright("replan", "last", "-", stdin="And more", cwd=workspace)
    assert (ran.status, ran.out) == (1, "did: Guess the numbers\n")
    assert "the plan was not changed: given up: that is all" in ran.err
    assert goalwright("replan", "nope", "x", cwd=workspace).status == 2
    assert goalwright("replan", "last", " ", cwd=workspace).status == 2


def test_a_person_edits_the_plan(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(PLAN))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 1
    written = goalwright("plan", "--of", "last", "-o", "p.yaml", cwd=workspace)
    assert written.status == 0, written.err
    assert "goalwright resume last --plan p.yaml" in written.err
    file = workspace / "p.yaml"
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# The plan of run 2")
    assert "# 2 tasks have begun and cannot change: sheet (failed), notes (done).\n" in text
    document = yaml.safe_load(text)
    assert [task["id"] for task in document["tasks"]] == ["sheet", "notes", "brief"]
    assert json.loads(goalwright("plan", "--of", "last", "--json", cwd=workspace).out)["tasks"][0]["id"] == "sheet"
    assert goalwright("plan", "--of", "last", "--format", "graph", cwd=workspace).out.count("○") == 3

    document["tasks"] = [document["tasks"][0], GUESS, document["tasks"][2]]
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    refused = goalwright("resume", "last", "--plan", "p.yaml", cwd=workspace)
    assert refused.status == 2
    assert "depends on 'notes', which is not in the plan" in refused.err

    document["tasks"] = [
        NOTES,
        GUESS,
        {**BRIEF, "instruction": "Brief: <<guess.output>>", "depends_on": ["notes", "guess"]},
    ]
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    ran = goalwright("resume", "last", "--plan", "p.yaml", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    result = json.loads(ran.out)
    assert {task["id"]: task["status"] for task in result["tasks"]}["guess"] == "done"
    assert "changed by a person: plan: " in goalwright("trace", "show", cwd=workspace).out


def test_plan_takes_a_goal_or_a_run(workspace: Path, goalwright: Goalwright) -> None:
    assert goalwright("plan", cwd=workspace).status == 2
    both = goalwright("plan", "--of", "last", GOAL, cwd=workspace)
    assert (both.status, "give a goal, or a run with --of" in both.err) == (2, True)
    assert goalwright("plan", "--of", "last", cwd=workspace).status == 2


def test_a_batch_changes_no_plan_unless_told(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(replacing())
    (workspace / "goals.txt").write_text(f"{GOAL}\n", encoding="utf-8")
    assert goalwright("batch", "goals.txt", "-o", "a.jsonl", *MODEL, cwd=workspace).status == 1
    assert server.asked("replanner") == []
    ran = goalwright("batch", "goals.txt", "-o", "b.jsonl", "--max-replans", "1", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    (workspace / "goalwright.toml").write_text("max_replans = 1\n", encoding="utf-8")
    ran = goalwright("batch", "goals.txt", "-o", "c.jsonl", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err


def said(call: Call) -> Answer:
    """A task's answer; `Look` says that the plan is wrong."""
    if instruction(call) == "Look" and not call.tool_results:
        return Say(tool_calls=(("PlanIsWrong", {"reason": "the service has no API"}),))
    return Say(f"did: {instruction(call)}")


def test_a_worker_says_that_the_plan_is_wrong(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    look = {"id": "look", "action_type": "llm", "instruction": "Look"}
    write = {"id": "write", "action_type": "llm", "instruction": "Write it", "depends_on": ["look"]}
    other = {"id": "other", "action_type": "llm", "instruction": "Say why", "depends_on": ["look"]}
    server = serve(scripted({"tasks": [look, write]}, task=said, change=lambda _: change(other, drop=["write"])))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["answer"] == "did: Say why"
    assert [instruction(call) for call in server.asked("task")] == ["Look", "Look", "Say why"]
    assert "says that the plan is wrong: the service has no API" in server.asked("replanner")[0].user


def test_a_run_that_waits_still_waits_where_the_change_is_refused(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    asks = NOTES | {"needs_approval": "Shall it be noted?"}
    serve(scripted({"tasks": [asks]}, change=lambda _: Say('{"give_up": "there is no other way"}')))
    waiting = json.loads(goalwright("run", "--json", *MODEL, GOAL, cwd=workspace).out)["waiting"]
    ran = goalwright("replan", "last", "Leave it out", cwd=workspace)
    assert ran.status == 6, ran.err
    assert "waiting: the plan was not changed: given up: there is no other way" in ran.err
    assert "Shall it be noted?" in ran.err
    (listed,) = json.loads(goalwright("approvals", "--json", cwd=workspace).out)
    assert {key: listed[key] for key in waiting[0]} == waiting[0]
    assert goalwright("resume", "--approve", waiting[0]["id"], cwd=workspace).status == 0
