"""Skills that were selected with certainty, as commands tell of them: `skills_used`, `warnings` and the trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import yaml

from tests.openai_server import OpenAIServer, Say, Script, in_turn, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Ran

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., "Ran"]
MODEL = ("--model", "openai/test-model", "--json")
GOAL = "Use the cataloging-apis skill for the to-do service"
TASK = {"id": "a", "action_type": "llm", "instruction": "do a"}
SKILL = {"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "List them"}
SAID = "the plan does not use the skill 'cataloging-apis', which was selected with certainty: "
UNUSED = f"{SAID}it gives no reason"
KEYS = [
    "run_id", "status", "goal", "answer", "error", "question", "skills", "skills_used", "warnings", "tasks", "usage",
]  # fmt: skip


def read(ran: Ran, status: int = 0) -> Any:
    assert ran.status == status, ran.err
    document = json.loads(ran.out)
    assert list(document)[: len(KEYS)] == KEYS
    return document


def test_what_stays_unused_is_told_by_every_command_that_shows_the_run(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted({"tasks": [TASK]}))
    ran = goalwright("run", *MODEL, GOAL, cwd=workspace)
    document = read(ran)
    assert len(server.asked("decomposer")) == 2
    assert (document["skills"], document["skills_used"], document["warnings"]) == (["cataloging-apis"], [], [UNUSED])
    assert f"warning: {SAID}" in " ".join(ran.err.split())
    replayed = read(goalwright("replay", "last", "--strict", "--json", cwd=workspace))
    assert (replayed["warnings"], replayed["skills_used"], replayed["drift"]) == ([UNUSED], [], [])
    shown = read(goalwright("trace", "show", "last", "--json", cwd=workspace))
    assert (shown["warnings"], shown["selected"][0]["certain"]) == ([UNUSED], True)
    text = goalwright("trace", "show", "last", cwd=workspace).out
    assert "), not used" in text
    assert f"warning: {UNUSED}" in text


def test_a_skill_that_is_used_is_named_in_runs_that_follow(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted({"tasks": [SKILL, TASK | {"depends_on": ["survey"]}]}))
    first = read(goalwright("run", *MODEL, GOAL, cwd=workspace))
    assert (first["skills_used"], first["warnings"]) == (["cataloging-apis"], [])
    again = read(goalwright("rerun", first["run_id"], "--from", "a", *MODEL, cwd=workspace))
    assert (again["skills_used"], again["warnings"]) == (["cataloging-apis"], [])
    same = read(goalwright("resume", first["run_id"], *MODEL, cwd=workspace))
    assert (same["skills_used"], same["warnings"]) == (["cataloging-apis"], [])


def test_a_skill_that_was_switched_off_since_is_not_used_again(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted({"tasks": [SKILL, TASK | {"depends_on": ["survey"]}]}))
    run = read(goalwright("run", *MODEL, GOAL, cwd=workspace))["run_id"]
    with (workspace / "goalwright.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[skills]\noff = ["cataloging-apis"]\n')
    again = goalwright("rerun", run, "--from", "survey", *MODEL, cwd=workspace)
    assert again.status == 1
    assert "cataloging-apis" in json.loads(again.out)["error"] + again.err
    assert json.loads(again.out)["skills_used"] == []
    assert read(goalwright("replay", run, "--strict", "--json", cwd=workspace))["drift"] == []


def test_a_reason_goes_through_a_plan_file(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted({"tasks": [TASK], "unused": {"cataloging-apis": "there is a list"}}))
    made = goalwright("plan", *MODEL, GOAL, "-o", "plan.yaml", cwd=workspace)
    assert made.status == 0, made.err
    written = yaml.safe_load((workspace / "plan.yaml").read_text(encoding="utf-8"))
    assert written["unused"] == {"cataloging-apis": "there is a list"}
    ran = goalwright("run", *MODEL, "--plan", "plan.yaml", cwd=workspace)
    assert read(ran)["warnings"] == [f"{SAID}there is a list"]


def test_a_plan_of_a_run_is_edited_and_only_warned_of(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted({"tasks": [TASK | {"needs_approval": True}, SKILL | {"depends_on": ["a"]}]}))
    first = read(goalwright("run", *MODEL, GOAL, cwd=workspace), 6)
    assert first["warnings"] == []
    (workspace / "edited.yaml").write_text(yaml.safe_dump({"tasks": [TASK | {"needs_approval": True}]}))
    changed = read(goalwright("resume", first["run_id"], "--plan", "edited.yaml", *MODEL, cwd=workspace), 6)
    assert changed["warnings"] == [UNUSED]
    done = read(goalwright("resume", first["run_id"], "--approve-all", *MODEL, cwd=workspace))
    assert (done["status"], done["warnings"], done["skills_used"]) == ("done", [UNUSED], [])


def test_a_row_of_a_batch_has_them(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    planner = in_turn(*(Say(json.dumps({"tasks": tasks})) for tasks in ([TASK], [TASK], [SKILL])))
    rest = scripted("")
    serve(lambda call: planner(call) if call.role == "decomposer" else rest(call))
    goals = [{"id": "left-out", "goal": GOAL}, {"id": "used", "goal": f"{GOAL} again"}]
    (workspace / "goals.jsonl").write_text("\n".join(map(json.dumps, goals)))
    ran = goalwright("batch", "goals.jsonl", "-o", "results.jsonl", "--jobs", "1", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    rows = {row["id"]: row for row in map(json.loads, (workspace / "results.jsonl").read_text().splitlines())}
    assert (rows["left-out"]["skills_used"], rows["left-out"]["warnings"]) == ([], [UNUSED])
    assert (rows["used"]["skills_used"], rows["used"]["warnings"]) == (["cataloging-apis"], [])


def test_selecting_prints_what_it_did_before(workspace: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "select", "--json", GOAL, cwd=workspace)
    assert [list(one) for one in json.loads(ran.out)["selected"]] == [["name", "score", "reason"]]
