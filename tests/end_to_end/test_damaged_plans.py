"""Plans as models damage them, through the command line: no task starts without its edges, no reference is lost.

The forms of damage are tested in tests/planner/reading.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Ran

    Serve = Callable[[Script], OpenAIServer]
    Goalwright = Callable[..., Ran]

MODEL = ("--model", "openai/test-model")
GOAL = "Sort out the to-do service"


def llm(task_id: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "instruction": f"Do {task_id}", "depends_on": list(before), **more}


RIGHT = {"tasks": [llm("survey"), llm("brief", "survey")]}


def planning(*plans: Any, task: Script | None = None) -> Script:
    """A server whose planner gives one plan after the other."""
    texts = [plan if isinstance(plan, str) else json.dumps(plan) for plan in plans]

    def script(call: Call) -> Answer:
        if call.role != "decomposer":
            return scripted(plans[-1], task=task)(call)
        return Say(texts.pop(0) if len(texts) > 1 else texts[0])

    return script


def told(server: OpenAIServer) -> list[str]:
    return [instruction(call) for call in server.asked("task")]


def loose(**more: Any) -> dict[str, Any]:
    rows = [llm("brief"), llm("survey")]
    return {"tasks": [{key: value for key, value in row.items() if key != "depends_on"} for row in rows], **more}


@pytest.mark.parametrize(
    "plan",
    [
        loose(edges=[{"from": "survey", "to": "brief"}]),
        {"Tasks": [llm("survey", title="Look around"), {"ID": "brief", "Action_Type": "LLM",
                   "Instruction": "Do brief", "Depends_On": "survey"}]},
    ],
)  # fmt: skip
def test_edges_in_another_form_are_kept(plan: Any, workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(plan))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert (len(server.asked("decomposer")), told(server)) == (1, ["Do survey", "Do brief"])
    assert "did: Do survey" in server.asked("task")[-1].user


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (loose(dag={"brief": ["survey"]}), "the plan's key 'dag' names tasks"),
        (json.dumps(RIGHT)[:-2] + "\n// ... more tasks here\n]}", "something was left out of it"),
        ({"tasks": [llm("survey"), llm("brief", "survey", instruction="Use <<survey.total>>")]},
         "refers to <<survey.total>>, which cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_exactly_is_asked_for_again(
    answer: Any, says: str, workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(planning(answer, RIGHT))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert (ran.status, json.loads(ran.out)["answer"]) == (0, "did: Do brief"), ran.err
    assert says in server.asked("decomposer")[1].user
    assert "<<survey.total>>" not in "".join(told(server))


def test_edges_behind_the_tasks_of_a_streamed_plan_hold(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    plan = loose() | {"edges": [["survey", "brief"]]}
    plan["tasks"].reverse()
    server = serve(scripted(plan))
    ran = goalwright("run", "--json", "--stream-plan", *MODEL, GOAL, cwd=workspace)
    assert (ran.status, told(server)) == (0, ["Do survey", "Do brief"]), ran.err


def test_a_plan_file_says_the_same(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(RIGHT))
    (workspace / "plan.yaml").write_text(json.dumps(loose(edges=[{"from": "survey", "to": "brief"}])))
    assert goalwright("run", *MODEL, "--plan", "plan.yaml", GOAL, cwd=workspace).status == 0
    assert told(server) == ["Do survey", "Do brief"]
    (workspace / "plan.yaml").write_text(json.dumps(loose(dag={"brief": ["survey"]})))
    ran = goalwright("run", *MODEL, "--plan", "plan.yaml", GOAL, cwd=workspace)
    assert (ran.status, "the plan's key 'dag' names tasks" in ran.err) == (2, True)


def test_a_failure_that_a_branch_handles_ends_well_and_is_told(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    branch = llm("guess", "fetch", when='<<fetch.status>> == "failed"', instruction="Guess, as it <<fetch.status>>")
    plan = {"tasks": [llm("fetch"), branch]}

    def task(call: Call) -> Answer:
        told = instruction(call)
        return Fail(400, "the page is gone") if told == "Do fetch" else Say(f"did: {told}")

    server = serve(scripted(plan, task=task))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["error"]) == (0, "done", None), ran.err
    assert document["answer"] == "did: Guess, as it failed"
    assert {task["id"]: task["status"] for task in document["tasks"]} == {"fetch": "failed", "guess": "done"}
    assert "task 'fetch' failed, and task 'guess' handled that" in ran.err
    assert server.asked("replanner") == []
    (workspace / "goals.jsonl").write_text(json.dumps({"id": "one", "goal": GOAL}) + "\n")
    batch = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--max-replans", "1", *MODEL, cwd=workspace)
    assert batch.status == 0, batch.err
    (line,) = (workspace / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["status"] == "done"


def test_a_request_that_fails_leaves_a_done_run_done(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(RIGHT))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 0
    ran = goalwright("replan", "last", "More", "--json", cwd=workspace)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["answer"]) == (1, "done", "did: Do brief")
    assert document["error"] == "the plan was not changed: given up: nothing else is known"
    (listed,) = json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)
    assert listed["status"] == "done"
    assert goalwright("resume", "last", cwd=workspace).status == 0
