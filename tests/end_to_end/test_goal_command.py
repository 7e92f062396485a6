"""A plan with a goal in it, as users meet it: a real process, a real server, a replay in another checkout."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from goalwright.interfaces.web.trace_page import render
from goalwright.telemetry.spans import run_spans
from tests.goalwright.recorded import rows
from tests.nursery import Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
GOAL = "Sort out the to-do service"
PLAN = {"tasks": [
    {"id": "audit", "action_type": "llm", "instruction": "Audit it"},
    {"id": "migrate", "action_type": "goal", "instruction": "Migrate what was found", "depends_on": ["audit"]},
]}  # fmt: skip
PART = {"tasks": [
    {"id": "guide", "action_type": "skill", "name": "cataloging-apis", "instruction": "Write the guide"},
    {"id": "sheet", "action_type": "tool", "name": "excel_read", "arguments": {"path": "gone.xlsx"}},
], "synthesis": "both"}  # fmt: skip


def script(call: Call) -> Answer:
    """The plan of the run, and the plan of the goal inside it."""
    if call.role == "decomposer" and "Migrate what was found" in call.user:
        return Say(json.dumps(PART))
    return scripted(PLAN, synthesis="the guide")(call)


def test_a_goal_inside_a_plan_is_shown_and_replays_elsewhere(
    workspace: Path, serve: Serve, goalwright: Goalwright, tmp_path: Path
) -> None:
    server = serve(script)
    ran = goalwright("run", "--json", "--model", "openai/test-model", GOAL, cwd=workspace)
    document = json.loads(ran.out)
    assert (ran.status, document["status"]) == (1, "partial"), ran.err
    assert document["answer"].startswith("the guide")
    assert {task["id"]: (task["action_type"], task["status"]) for task in document["tasks"]} == {
        "audit": ("llm", "done"), "migrate": ("goal", "done"),
        "migrate/guide": ("skill", "done"), "migrate/sheet": ("tool", "failed"),
    }  # fmt: skip
    assert "migrate: 2 tasks added" in ran.err
    assert "migrate: skills selected" in ran.err or "migrate: none of" in ran.err
    assert [call.role for call in server.calls] == ["decomposer", "task", "decomposer", "task", "synthesis"]

    shown = goalwright("trace", "show", cwd=workspace).out
    assert all(name in shown for name in ("migrate/guide", "migrate/sheet", "[cataloging-apis]"))
    asked = goalwright("trace", "show", "--task", "migrate", cwd=workspace).out
    assert "Migrate what was found" in asked
    names = {span["name"]: span for span in run_spans(rows(workspace))}
    assert names["invoke_agent cataloging-apis"]["parentSpanId"] == names["invoke_agent migrate"]["spanId"]
    assert "migrate/guide" in render([rows(workspace)])

    other, trace = tmp_path / "other", tmp_path / "run.jsonl"
    (other / "skills").mkdir(parents=True)
    (workspace / "skills" / "cataloging-apis").rename(other / "skills" / "cataloging-apis")
    assert goalwright("trace", "export", "-o", str(trace), cwd=workspace).status == 0
    replay = goalwright("replay", "--strict", "--json", str(trace), cwd=other)
    assert (replay.status, json.loads(replay.out)["drift"]) == (0, []), replay.out
    (other / "skills" / "cataloging-apis").rename(workspace / "skills" / "cataloging-apis")
