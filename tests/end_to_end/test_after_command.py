"""`goalwright run --after`, as users and scripts meet it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.nursery import Ran
from tests.openai_server import OpenAIServer, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
GOAL = "Write the API documentation of the to-do service"
PLAN = {"tasks": [{"id": "notes", "action_type": "llm", "instruction": "Read the notes"}]}


def test_a_run_is_followed_up_within_one_journal(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(PLAN))
    nothing = goalwright("run", "--json", "--after", "last", "Now shorten it", cwd=workspace, env=MODEL)
    assert (nothing.status, server.calls) == (2, [])
    assert json.loads(nothing.out)["error"]["hint"]
    earlier = json.loads(goalwright("run", "--json", GOAL, cwd=workspace, env=MODEL).out)
    ran = goalwright("run", "--json", "--after", earlier["run_id"][:18], "Now shorten it", cwd=workspace, env=MODEL)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["goal"]) == (0, "done", "Now shorten it"), ran.err
    assert "<earlier-answer>\ndid: Read the notes\n</earlier-answer>" in server.asked("task")[-1].user
    assert f"follows {earlier['run_id']}" in goalwright("trace", "show", cwd=workspace).out
    before = len(server.calls)
    unknown = goalwright("run", "--after", "20990101", "Now shorten it", cwd=workspace, env=MODEL)
    assert (unknown.status, len(server.calls)) == (2, before)
    assert "20990101" in unknown.err
