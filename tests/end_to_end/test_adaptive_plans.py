"""Plans that branch and fan out, with the real command line, a scripted server, and processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, instruction, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery, Ran

    Serve = Callable[[Script], OpenAIServer]
    Goalwright = Callable[..., Ran]

MODEL = ("--model", "openai/test-model")
FILES = {"id": "files", "action_type": "llm", "instruction": "List the files", "depends_on": []}
REVIEW = {
    "id": "review", "title": "Review each", "action_type": "skill", "name": "cataloging-apis", "arguments": "<<item>>",
    "instruction": "Review <<item>>", "for_each": "<<files.output>>", "width": 4, "depends_on": ["files"],
}  # fmt: skip
FIX = {
    "id": "fix", "action_type": "llm", "instruction": "Fix it", "depends_on": ["review"],
    "when": '<<review.output>> contains "severe"',
}  # fmt: skip
LEGAL = {
    "id": "legal", "action_type": "llm", "instruction": "Check the law", "depends_on": ["review"],
    "when": {"ask": "Does this name a person: <<review.output>>?"},
}  # fmt: skip
PLAN = {"tasks": [FILES, REVIEW, FIX, LEGAL], "synthesis": "all"}
FORTY = [f"src/file{number}.py" for number in range(1, 41)]
BAD = ("src/file7.py", "src/file20.py", "src/file33.py")


def forty(seconds: float) -> Script:
    """Forty files, three of which cannot be reviewed; the others take a while each."""

    def task(call: Call) -> Answer:
        told = instruction(call)
        if told == "List the files":
            return Say(json.dumps(FORTY))
        if told.removeprefix("Review ") in BAD:
            return Fail(400, "this file is not allowed")
        return Say(f"did: {told}", after=seconds)

    return scripted(PLAN, task=task, condition='{"holds": false, "why": "nobody is named"}')


def killed(nursery: Nursery, workspace: Path, server: OpenAIServer, calls: int, *command: str) -> None:
    """Start a command, and kill it once the server was asked so often."""
    process = nursery.start(
        ["-m", "goalwright", *command], env=dict(os.environ), cwd=workspace, stdout=DEVNULL, stderr=PIPE
    )
    deadline = time.monotonic() + 60
    while len(server.calls) < calls and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.stderr is not None
    process.stderr.read()
    process.stderr.close()
    assert process.wait(120) == -signal.SIGKILL


def finished(rows: str) -> Counter[str]:
    """How often each call of a trace is on record as finished."""
    events = [json.loads(line) for line in rows.splitlines()]
    return Counter(event["request"] for event in events if event["type"] == "call_finished")


@pytest.mark.slow
def test_forty_files_three_failing_killed_twice(
    workspace: Path, tmp_path: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    server = serve(forty(0.15))
    killed(nursery, workspace, server, 12, "run", "-q", "Review the API documentation", *MODEL)
    killed(nursery, workspace, server, 30, "resume", "last", "-q")
    server.script = forty(0)
    ran = goalwright("resume", "last", "--json", cwd=workspace)
    assert ran.status == 1, ran.err
    document = json.loads(ran.out)
    assert document["status"] == "partial"
    tasks = {task["id"]: task for task in document["tasks"]}
    assert len(tasks) == 44
    assert [task for task in tasks if tasks[task]["status"] == "failed"] == ["review[7]", "review[20]", "review[33]"]
    assert (tasks["fix"]["status"], tasks["legal"]["status"]) == ("unneeded", "unneeded")
    good = [name for name in FORTY if name not in BAD]
    assert tasks["review"]["output"] == "\n\n".join(f"### {name}\n\ndid: Review {name}" for name in good)
    assert "3 of 44 tasks have no result: Review each (review[7], src/file7.py): " in document["error"]
    exported = goalwright("trace", "export", "last", cwd=workspace).out
    calls = finished(exported)
    assert set(calls.values()) == {1}, "no call is on record twice"
    assert len(calls) == 1 + 1 + 37 + 1 + 1, "the plan, the list, the files, the question and the answer"

    other = tmp_path / "other"
    (other / "skills").mkdir(parents=True)
    (workspace / "skills" / "cataloging-apis").rename(other / "skills" / "cataloging-apis")
    (other / "run.jsonl").write_text(exported, encoding="utf-8")
    ran = goalwright("replay", "run.jsonl", "--strict", "--json", cwd=other)
    assert (ran.status, json.loads(ran.out)["drift"]) == (0, []), ran.err
    (other / "skills" / "cataloging-apis").rename(workspace / "skills" / "cataloging-apis")
    shown = goalwright("trace", "show", "last", cwd=workspace).out
    assert "(not needed: nobody is named)" in shown
    plain = shown.replace("*", " ")  # which items are on the critical path is chance
    assert plain.index("review[2]") < plain.index("review[10]") < plain.index("✗ review[20]") < plain.index("○ fix")


LOOP = {
    "id": "draft", "action_type": "skill", "name": "cataloging-apis", "instruction": "Write it", "depends_on": [],
    "repeat": {"until": '<<draft.output>> contains "4"', "most": 6},
}  # fmt: skip


@pytest.mark.slow
def test_a_loop_killed_twice_ends_once(
    workspace: Path, tmp_path: Path, serve: Serve, goalwright: Goalwright, nursery: Nursery
) -> None:
    def counting(seconds: float) -> Script:
        def task(call: Call) -> Answer:
            before = call.user.partition("<previous_attempt>\ndraft ")[2].partition("\n")[0]
            return Say(f"draft {int(before or 0) + 1}", after=seconds)

        return scripted({"tasks": [LOOP]}, task=task)

    goal, server = "Write the API documentation until it is the fourth", serve(counting(0.3))
    killed(nursery, workspace, server, 3, "run", "-q", goal, *MODEL)
    killed(nursery, workspace, server, 4, "resume", "last", "-q")
    server.script = counting(0)
    ran = goalwright("resume", "last", "--json", cwd=workspace)
    document = json.loads(ran.out)
    (draft,) = document["tasks"]
    assert (ran.status, document["answer"], draft["output"]) == (0, "draft 4", "draft 4"), ran.err
    assert (draft["id"], draft["attempts"] >= 4) == ("draft", True)
    exported = goalwright("trace", "export", "last", cwd=workspace).out
    calls = finished(exported)
    assert (len(calls), set(calls.values())) == (5, {1}), "the plan and four rounds, each once"
    changes = [event for line in exported.splitlines() if (event := json.loads(line))["type"] == "plan_changed"]
    assert [task["id"] for one in changes if one["cause"] == "repeat" for task in one["added"]] == [
        "draft#2", "draft#3", "draft#4"
    ]  # fmt: skip

    (tmp_path / "run.jsonl").write_text(exported, encoding="utf-8")
    ran = goalwright("replay", str(tmp_path / "run.jsonl"), "--strict", "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)["drift"]) == (0, []), ran.err
    shown = goalwright("trace", "show", "last", cwd=workspace).out
    assert shown.index("draft#2") < shown.index("draft#3") < shown.index("draft#4")


@pytest.mark.parametrize("file", ["plan.yaml", "plan.json"])
def test_a_plan_is_written_edited_and_run(workspace: Path, serve: Serve, goalwright: Goalwright, file: str) -> None:
    server = serve(scripted(PLAN, task=lambda call: Say("- a.py\n- b.py" if "List" in instruction(call) else "severe")))
    ran = goalwright("plan", "Review the API documentation", "-o", file, *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    document: dict[str, Any] = yaml.safe_load((workspace / file).read_text(encoding="utf-8"))
    assert document["tasks"] == [FILES, {**REVIEW}, FIX, LEGAL]
    dry = goalwright("run", "--plan", file, "--dry-run", cwd=workspace)
    assert "6 or more, as tasks call tools and lists have items" in dry.out + dry.err
    document["tasks"][1]["first"] = 1
    (workspace / file).write_text(json.dumps(document) if file.endswith("json") else yaml.safe_dump(document), "utf-8")
    ran = goalwright("run", "--plan", file, "--json", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    result = json.loads(ran.out)
    assert {task["id"]: task["status"] for task in result["tasks"]} == dict.fromkeys(
        ("files", "review", "fix", "legal", "review[1]"), "done"
    )
    assert "task 'review' takes the first 1 of 2 items; 1 is left out" in ran.err
    assert len(server.asked("decomposer")) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"when": "<<review.output>> = 1"}, "column 19: expected a test after the value"),
        ({"for_each": "<<files.output>>"}, "'for_each' without <<item>>: every item would be told the same"),
        ({"instruction": "Fix <<item>>"}, "<<item>> stands for an item of 'for_each', which is missing"),
        ({"width": 0, "for_each": [1]}, "'width' must be a positive integer, not 0"),
        ({"when": "<<later.status>> == 'done'"}, "there is no task 'later'"),
    ],
)
def test_a_plan_file_with_a_fault_runs_nothing(
    workspace: Path, goalwright: Goalwright, change: dict[str, Any], says: str
) -> None:
    (workspace / "plan.json").write_text(json.dumps({"tasks": [FILES, REVIEW, {**FIX, **change}]}), encoding="utf-8")
    ran = goalwright("run", "--plan", "plan.json", "x", *MODEL, cwd=workspace)
    assert ran.status == 2
    assert says in ran.err


def test_a_model_is_told_the_column_and_asked_again(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    broken = {"tasks": [FILES, {**FIX, "depends_on": ["files"], "when": "<<files.output>> has 'x'"}]}
    fixed = {"tasks": [FILES, {**FIX, "depends_on": ["files"], "when": "<<files.output>> contains 'x'"}]}
    server = serve(lambda call: Say(json.dumps(fixed if "column 18" in call.user else broken)))
    ran = goalwright("plan", "Review the API documentation", "--json", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["tasks"][1]["when"] == "<<files.output>> contains 'x'"
    assert "not 'has'; write 'contains'" in server.calls[-1].user
    asked = server.calls[0]
    assert '"for_each": "<<files.output>>"' in asked.system
    assert (
        "for_each"
        in asked.body["response_format"]["json_schema"]["schema"]["properties"]["tasks"]["items"]["properties"]
    )


def test_small_models_are_not_offered_them(
    workspace: Path, serve: Serve, goalwright: Goalwright, monkeypatch: Any
) -> None:
    plan = {"tasks": [{"id": "t1", "use": "no skill", "instruction": "x", "depends_on": []}]}
    server = serve(lambda _: Say(json.dumps(plan)))
    monkeypatch.setenv("LM_STUDIO_API_BASE", server.base)
    goal = "Write a haiku about rivers, a limerick about cats and a proverb about rain, then judge them"
    ran = goalwright("plan", goal, "--json", "--model", "lm_studio/qwen2.5:1.5b", cwd=workspace)
    assert ran.status == 0, ran.err
    assert "for_each" not in json.dumps(server.calls[0].body)
