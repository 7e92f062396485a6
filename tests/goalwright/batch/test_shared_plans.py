"""A batch of like goals plans once, with `recipes = "auto"`."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

from goalwright import run_batch
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, instruction

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery, Ran

MODEL = "openai/test-model"
AUTO = {"recipes": "auto"}
Serve = Callable[[Script], OpenAIServer]
RIVERS = [f"Write a short poem about the river number {number}" for number in range(1, 25)]
_GOAL = re.compile(r"(?:Write|Explain|Describe)[^\n<]*")


def goal_of(call: Call) -> str:
    return str(_GOAL.findall(call.user)[-1])


def planner(call: Call) -> Answer:
    """Plans a goal by its own words, in two tasks."""
    if call.role != "decomposer":
        return Say(f"did: {instruction(call)}")
    tasks = [
        {"id": "draft", "action_type": "llm", "instruction": goal_of(call)},
        {"id": "check", "action_type": "llm", "instruction": "Correct <<draft.output>>.", "depends_on": ["draft"]},
    ]
    return Say(json.dumps({"tasks": tasks}))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_many_like_goals_need_one_planning_call(workspace: Path, serve: Serve) -> None:
    server, output = serve(planner), workspace / "out.jsonl"
    report = await run_batch(RIVERS, output, model=MODEL, workspace=workspace, settings=AUTO)
    assert (report.stopped, report.summary.all_done, report.summary.recipes) == (None, True, 23)
    assert len(server.asked("decomposer")) == 1
    found = rows(output)
    first = next(row for row in found if row["recipe"] is None)
    assert {row["recipe"] for row in found if row is not first} == {first["run_id"]}
    for row in found:
        assert row["tasks"][0]["output"] == f"did: {row['goal']}", "every goal has its own words in the plan"


async def test_goals_that_differ_in_a_version_share_a_plan(workspace: Path, serve: Serve) -> None:
    goals = [f"Write a short poem about version 1.2.{number}" for number in range(5)]
    server, output = serve(planner), workspace / "out.jsonl"
    report = await run_batch(goals, output, model=MODEL, workspace=workspace, settings=AUTO)
    assert (report.summary.all_done, report.summary.recipes, len(server.asked("decomposer"))) == (True, 4, 1)
    assert sorted(row["tasks"][0]["output"] for row in rows(output)) == [f"did: {goal}" for goal in goals]


async def test_without_auto_every_goal_plans(workspace: Path, serve: Serve) -> None:
    server, output = serve(planner), workspace / "out.jsonl"
    report = await run_batch(RIVERS[:5], output, model=MODEL, workspace=workspace)
    assert (report.summary.recipes, len(server.asked("decomposer"))) == (0, 5)


async def test_unlike_goals_plan_for_themselves(workspace: Path, serve: Serve) -> None:
    server, output = serve(planner), workspace / "out.jsonl"
    goals = [
        "Explain to children how rivers begin",
        "Write a short poem about the river number 7",
        "Write a long story about the river number 7",
        "Write a short poem about the river number 8 and explain it",
        "Write a short poem about the river number 9",
    ]
    await run_batch(goals, output, model=MODEL, workspace=workspace, settings=AUTO)
    assert len(server.asked("decomposer")) == 4
    shared = [row["goal"] for row in rows(output) if row["recipe"] is not None]
    assert len(shared) == 1
    assert shared[0] in (goals[1], goals[4])


async def test_a_plan_that_names_more_than_its_goal_serves_no_other(workspace: Path, serve: Serve) -> None:
    def named(call: Call) -> Answer:
        if call.role != "decomposer":
            return Say("done")
        told = f"{goal_of(call)}, and mention the Loreley."
        return Say(json.dumps({"tasks": [{"id": "all", "action_type": "llm", "instruction": told}]}))

    server, output = serve(named), workspace / "out.jsonl"
    report = await run_batch(RIVERS[:4], output, model=MODEL, workspace=workspace, settings=AUTO)
    assert (report.summary.all_done, report.summary.recipes, len(server.asked("decomposer"))) == (True, 0, 4)


async def test_where_the_first_cannot_be_planned_the_next_one_plans(workspace: Path, serve: Serve) -> None:
    refused: list[str] = []

    def failing(call: Call) -> Answer:
        if call.role == "decomposer" and goal_of(call) in (refused or [goal_of(call)]):
            refused.append(goal_of(call))
            return Fail(400, "no")
        return planner(call)

    server, output = serve(failing), workspace / "out.jsonl"
    report = await run_batch(RIVERS[:10], output, model=MODEL, workspace=workspace, settings=AUTO)
    assert (report.summary.statuses["failed"], report.summary.statuses["done"]) == (1, 9)
    planned = {goal_of(call) for call in server.asked("decomposer")}
    assert (len(planned), report.summary.recipes) == (2, 8)


def test_a_killed_batch_goes_on_with_the_plan_that_it_has(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Callable[..., Ran]
) -> None:
    held = threading.Event()

    def slow(call: Call) -> Answer:
        if call.role == "task" and len(server.asked("task")) > 12:
            held.wait(60)
        return planner(call)

    server = serve(slow)
    goals = workspace / "goals.txt"
    goals.write_text("\n".join(RIVERS), encoding="utf-8")
    env = {**os.environ, "GOALWRIGHT_MODEL": MODEL, "GOALWRIGHT_RECIPES": "auto", "GOALWRIGHT_HELPER_MINUTES": "0"}
    command = ["-m", "goalwright", "batch", str(goals), "-o", "out.jsonl", "--max-calls", "8"]
    process = nursery.start(command, env=env, cwd=workspace, stdout=DEVNULL, stderr=DEVNULL)
    until = time.monotonic() + 120
    while len(server.asked("task")) <= 12 and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait(60)
    held.set()
    begun = rows(workspace / "out.jsonl") if (workspace / "out.jsonl").exists() else []
    assert (len(begun) < 24, len(server.asked("decomposer"))) == (True, 1)
    ran = goalwright("batch", str(goals), "-o", "out.jsonl", "--resume", "--json", cwd=workspace, env=env)
    assert ran.status == 0, ran.err
    found = rows(workspace / "out.jsonl")
    assert (len({row["id"] for row in found}), {row["status"] for row in found}) == (24, {"done"})
    assert len(server.asked("decomposer")) == 1
    assert sum(row["recipe"] is not None for row in found) == 23
    for row in found:
        assert row["tasks"][0]["output"] == f"did: {row['goal']}"
