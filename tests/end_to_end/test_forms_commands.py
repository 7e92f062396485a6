"""Results with a form and with a check, as users and scripts meet them: real processes, a real server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, instruction

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery, Ran

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., "Ran"]
MODEL = ("--model", "openai/test-model")
GOAL = "Write the API documentation of the to-do service"
TABLE = {
    "type": "object",
    "properties": {"rows": {"type": "array", "minItems": 1, "items": {"type": "object"}}},
    "required": ["rows"],
}
SURVEY = {
    "id": "survey",
    "action_type": "skill",
    "name": "cataloging-apis",
    "instruction": "List them",
    "output_schema": TABLE,
}
BRIEF = {
    "id": "brief",
    "action_type": "llm",
    "instruction": "Brief: <<survey.output.rows[0].path>>",
    "depends_on": ["survey"],
    "check": {"ask": "It names <<survey.output.rows[0].path>>.", "tries": 2, "model": "strong"},
    "model": "fast",
}
PLAN = {"tasks": [SURVEY, BRIEF], "synthesis": None, "clarification": None}
NAMES = '[models]\nfast = "openai/quick"\nstrong = "openai/thorough"\n'


def answering(delays: dict[int, float] | None = None) -> Script:
    """A wrong form and the right one; a brief that lacks the path, which the checker finds, and one that has it."""
    count = Counter[str]()

    def reply(call: Call) -> str:
        match call.role:
            case "decomposer":
                return json.dumps(PLAN)
            case "checker":
                holds = "<result>\nGET /todos" in call.user
                return json.dumps({"holds": holds, "why": "it has the path" if holds else "it lacks the path"})
            case _ if instruction(call) == "List them":
                fits = "does not fit the JSON Schema" in call.user
                return json.dumps({"rows": [{"path": "/todos"}] if fits else []})
            case _:
                return "GET /todos" if "it lacks the path" in call.user else "a list"

    def script(call: Call) -> Answer:
        count["calls"] += 1
        return Say(reply(call), after=(delays or {}).get(count["calls"], 0.0))

    return script


@pytest.fixture(autouse=True)
def named(workspace: Path) -> None:
    (workspace / "goalwright.toml").write_text(NAMES, encoding="utf-8")


def run(goalwright: Goalwright, workspace: Path, *more: str) -> dict[str, Any]:
    ran = goalwright("run", "--json", *MODEL, *more, cwd=workspace)
    assert ran.status == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def test_a_plan_is_written_edited_refused_and_run(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering())
    assert goalwright("plan", *MODEL, GOAL, "-o", "plan.yaml", cwd=workspace).status == 0
    written = yaml.safe_load((workspace / "plan.yaml").read_text(encoding="utf-8"))
    assert written["tasks"] == [SURVEY | {"depends_on": []}, BRIEF]
    assert json.loads(goalwright("plan", "--json", *MODEL, GOAL, cwd=workspace).out)["tasks"] == written["tasks"]
    document = run(goalwright, workspace, "--plan", "plan.yaml")
    assert (document["answer"], document["tasks"][0]["output"]) == ("GET /todos", '{"rows":[{"path":"/todos"}]}')
    assert [call.body["model"] for call in server.calls[2:]] == [
        "test-model", "test-model", "quick", "thorough", "quick", "thorough",
    ]  # fmt: skip
    assert "calls: 3 or more" in goalwright("run", "--dry-run", *MODEL, "--plan", "plan.yaml", cwd=workspace).out

    survey, brief = written["tasks"]
    survey["output_schema"]["additionalProperties"] = False
    brief |= {"instruction": "<<survey.output.colums>>", "model": "gpt"}
    (workspace / "plan.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    ran = goalwright("run", "--json", *MODEL, "--plan", "plan.yaml", cwd=workspace)
    assert ran.status == 2
    message = json.loads(ran.out)["error"]["message"]
    assert "'output_schema' has the keyword 'additionalProperties'" in message
    assert "'model' is 'gpt', which is not the name of a model here; known are: fast, strong" in message
    assert len(server.calls) == 8


def killed_at(nursery: Nursery, workspace: Path, server: OpenAIServer, calls: int) -> None:
    """Run until a call is under way, and nothing else, and kill the process there."""
    command = ["-m", "goalwright", "run", "--no-stream-plan", *MODEL, GOAL]
    process = nursery.start(command, cwd=workspace, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(server.calls) < calls and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(120) == -signal.SIGKILL
    assert len(server.calls) == calls


@pytest.mark.parametrize("calls", [3, 5, 7])
def test_killed_anywhere_it_goes_on_and_pays_for_nothing_twice(
    workspace: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery, calls: int
) -> None:
    server = serve(answering({calls: 30.0}))
    killed_at(nursery, workspace, server, calls)
    ran = goalwright("resume", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["answer"], document["usage"]["calls"]) == ("done", "GET /todos", 7)
    asked = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    under_way = json.dumps(server.calls[calls - 1].body["messages"])
    assert asked.total() == 8
    assert [text for text, times in asked.items() if times > 1] == [under_way]


@pytest.mark.changes_skills
def test_it_is_shown_exported_and_replayed_elsewhere(
    workspace: Path, serve: Serve, goalwright: Goalwright, tmp_path: Path
) -> None:
    server = serve(answering())
    ran = goalwright("run", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert "brief: check 1 does not hold: it lacks the path" in ran.err
    assert "brief: check 2 holds: it has the path" in ran.err
    assert "checked×2" in goalwright("trace", "show", cwd=workspace).out
    (span,) = (
        one for one in json.loads(goalwright("trace", "show", "--json", cwd=workspace).out)["spans"] if one["checks"]
    )
    assert span["checks"][0] == {"attempt": 1, "holds": False, "why": "it lacks the path"}
    assert "holds: False" in goalwright("trace", "show", "--task", "brief", cwd=workspace).out
    assert "brief: check 1 does not hold" in goalwright("trace", "export", "--html", cwd=workspace).out
    lines = goalwright("trace", "export", cwd=workspace).out
    events = [json.loads(line) for line in lines.splitlines()]
    (first, second) = (event for event in events if event["type"] == "result_checked")
    assert {key: first[key] for key in ("task", "attempt", "holds", "why")} == span["checks"][0] | {"task": "brief"}
    assert second["holds"] is True

    other = tmp_path / "a" / "longer" / "way" / "elsewhere"
    shutil.copytree(workspace / "skills", other / "skills")
    (other / "run.jsonl").write_text(lines, encoding="utf-8")
    ran = goalwright("replay", "run.jsonl", "--strict", "--json", cwd=other)
    assert (ran.status, json.loads(ran.out)["drift"]) == (0, []), ran.err

    skill = other / "skills" / "cataloging-apis" / "SKILL.md"
    skill.write_text(skill.read_text(encoding="utf-8") + "\nAnd be brief.\n", encoding="utf-8")
    ran = goalwright("replay", "run.jsonl", "--strict", "--json", cwd=other)
    assert ran.status == 3
    assert [one["where"] for one in json.loads(ran.out)["drift"]] == ["task survey"]
    assert len(server.calls) == 7


@pytest.mark.changes_skills
def test_another_checkers_prompt_is_drift_at_the_check(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering())
    run(goalwright, workspace, GOAL)
    seed = workspace / ".agents" / "seed"
    seed.mkdir()
    own = '<% extends "seed/checker.j2" %><% block system %>Be kind.<% endblock %>'
    (seed / "checker.j2").write_text(own, encoding="utf-8")
    ran = goalwright("replay", "last", "--strict", "--json", cwd=workspace)
    assert ran.status == 3
    (drift,) = json.loads(ran.out)["drift"]
    assert drift["where"] == "check of task 'brief', call 1"
    assert drift["what"].endswith("the same in 1 more prompt")


def test_results_of_other_runs_are_used_again_in_runs_and_batches(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(answering())
    first = run(goalwright, workspace, GOAL)
    assert len(server.calls) == 7
    second = run(goalwright, workspace, "--cache", "7", GOAL)
    assert (second["answer"], second["usage"]["calls"]) == (first["answer"], 1)
    assert [call.role for call in server.calls[7:]] == ["decomposer"]
    assert goalwright("replay", "last", "--strict", cwd=workspace).status == 0
    (workspace / "goals.txt").write_text(f"{GOAL}\n{GOAL}\n", encoding="utf-8")
    same = ["--cache", "7", "--max-replans", "1"]  # workers that may call for a new plan have a tool for it
    ran = goalwright("batch", "goals.txt", "-o", "r.jsonl", *MODEL, *same, "-q", cwd=workspace)
    assert ran.status == 0, ran.err
    assert [call.role for call in server.calls[8:]] == ["decomposer", "decomposer"]
    exported = goalwright("trace", "export", "last", cwd=workspace).out.splitlines()
    reused = [event for event in map(json.loads, exported) if event["type"] == "task_reused"]
    assert [(event["task"], event["source"]) for event in reused] == [("survey", "cache"), ("brief", "cache")]
    assert "↺" in goalwright("trace", "show", "last", cwd=workspace).out
    ran = goalwright("run", *MODEL, "--cache", "-1", GOAL, cwd=workspace)
    assert (ran.status, "--cache must be a number above 0" in ran.err) == (2, True)
