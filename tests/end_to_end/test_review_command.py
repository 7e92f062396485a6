"""`run --review` at a real terminal: a person looks at the plan, edits it, runs it or leaves it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.nursery import Nursery, Ran
from tests.openai_server import OpenAIServer, Script, scripted
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
GOAL = "Sort out the to-do service"
NOTES = {"id": "notes", "title": "Read the notes", "action_type": "llm", "instruction": "Read the notes"}
BRIEF = {"id": "brief", "title": "Write it", "action_type": "llm", "instruction": "Write", "depends_on": ["notes"]}
ASKED = b"[n]o: "

# The first edit leaves a plan that cannot run, the second, of what the first left, one that can.
EDITOR = """#!/bin/sh
if grep -q nowhere "$1"; then sed -i 's/nowhere/notes/; s/Read the notes/Read all notes/' "$1"
else sed -i 's/^  - notes/  - nowhere/' "$1"; fi
"""


def at_terminal(nursery: Nursery, workspace: Path, typed: list[str], **env: str) -> tuple[int, str]:
    """Run with --review at a terminal where these lines are typed; returns exit status and what it showed."""
    process, ours = start_at_terminal(nursery, ["run", "--review", GOAL], workspace, MODEL | env)
    shown = ""
    for line in typed:
        shown += until(ours, ASKED)
        os.write(ours, line.encode())
    shown += until(ours, None)
    os.close(ours)
    return process.wait(60), shown


def test_a_plan_is_edited_until_it_can_run_and_then_run(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright, tmp_path: Path
) -> None:
    server = serve(scripted({"tasks": [NOTES, BRIEF]}))
    editor = tmp_path / "my editor"
    editor.write_text(EDITOR, encoding="utf-8")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    status, shown = at_terminal(nursery, workspace, ["?\n", "e\n", "e\n", "y\n"], EDITOR=f"'{editor}'")
    assert status == 0, shown
    assert "The plan has 2 tasks:" in shown
    assert "○  notes  Read the notes" in shown
    assert "the plan as edited cannot run" in shown
    assert "'nowhere', which is not in the plan" in shown
    assert "○  notes  Read all notes" in shown
    assert [call.role for call in server.calls] == ["decomposer", "task", "task"]
    assert "Read all notes" in server.asked("task")[0].user
    events = goalwright("trace", "export", "last", cwd=workspace).out
    assert [
        event["cause"] for line in events.splitlines() if (event := json.loads(line))["type"] == "plan_changed"
    ] == ["person"]


def test_a_plan_that_is_declined_is_kept_and_run_by_resume(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    server = serve(scripted({"tasks": [NOTES, BRIEF]}))
    status, shown = at_terminal(nursery, workspace, ["e\n", "n\n"], VISUAL="no-such-editor-anywhere")
    assert status == 130, shown
    assert "the editor no-such-editor-anywhere cannot be started" in shown
    assert "Kept: 0 of 2 tasks, after 1 call. Resume with:" in shown
    assert server.asked("task") == []
    ran = goalwright("resume", "--json", cwd=workspace, env=MODEL)
    document = json.loads(ran.out)
    assert (ran.status, document["status"]) == (0, "done"), ran.err
    assert [task["status"] for task in document["tasks"]] == ["done", "done"]
    assert len(server.asked("decomposer")) == 1


def test_without_a_terminal_the_way_through_goalwright_plan_is_told(workspace: Path, goalwright: Goalwright) -> None:
    for flags in ((), ("--json",), ("--dry-run",)):
        ran = goalwright("run", "--review", *flags, GOAL, cwd=workspace, env=MODEL)
        assert ran.status == 2
        if flags == ("--json",):
            assert "goalwright plan GOAL -o plan.yaml" in json.loads(ran.out)["error"]["hint"]
        elif not flags:
            assert "goalwright plan GOAL -o plan.yaml" in ran.err
