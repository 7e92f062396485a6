"""What waits for a person, at the command line: listed, answered from another process, at a terminal, in a batch."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import replayed
from tests.goalwright import approving
from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, instruction, scripted
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
ASK = '[[approvals]]\ntool = "note_*"\ndecision = "ask"\n'
PLAN = {"tasks": [approving.NOTES]}


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A workspace whose tool asks first."""
    folder = tmp_path / "office"
    approving.prepare(folder)
    (folder / "goalwright.toml").write_text(ASK, encoding="utf-8")
    return folder


def noting(*texts: str, seconds: float = 0.0, plan: Any = PLAN) -> Script:
    """A server whose tasks note all texts at once, and then say what came back."""

    def task(call: Call) -> Answer:
        if call.tool_results or instruction(call) != "Note them":
            return Say("; ".join(one["text"] for one in call.tool_results) or "ok")
        return Say(tool_calls=tuple(("note_write", {"text": text, "seconds": seconds}) for text in texts))

    return scripted(plan, task=task)


def notes(office: Path, run_id: str) -> list[str]:
    file = office / ".agents" / "runs" / run_id / "artifacts" / "notes.txt"
    return sorted(file.read_text(encoding="utf-8").splitlines()) if file.exists() else []


def test_three_calls_wait_and_another_process_answers_each(office: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(noting("milk", "bread", "milk"))
    ran = goalwright("run", "--trust", approving.GOAL, cwd=office, env=MODEL)
    assert ran.status == 6, ran.err
    assert "Waiting for your approval:" in ran.err
    assert "task notes wants to call note_write" in ran.err
    assert "Answer with: goalwright resume" in ran.err
    assert len(server.calls) == 2
    listed = json.loads(goalwright("approvals", "--json", cwd=office).out)
    listed.sort(key=lambda row: (row["arguments"]["text"], row["id"]))  # calls of one reply ask side by side
    assert [row["arguments"]["text"] for row in listed] == ["bread", "milk", "milk"]
    keys = {"run_id", "goal", "id", "task", "kind", "tool", "arguments", "preview", "asked", "schema"}
    assert all(set(row) == keys for row in listed)
    assert {(row["goal"], row["kind"], row["tool"]) for row in listed} == {(approving.GOAL, "tool", "note_write")}
    shown = goalwright("approvals", "last", cwd=office)
    assert shown.out.count("wants to call note_write") == 3
    bread, milk, again = (row["id"] for row in listed)
    run_id = listed[0]["run_id"]
    flags = ("--approve", milk, "--deny", f"{bread[:7]}=no = no", "--approve", f"{again[:9]}#2")
    ran = goalwright("resume", run_id, *flags, "--json", cwd=office, env=MODEL)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["waiting"], len(server.calls)) == ("done", [], 3)
    assert "a person denied this call: no = no" in document["answer"]
    assert notes(office, run_id) == ["milk", "milk"]
    assert goalwright("approvals", "--json", cwd=office).out == "[]\n"
    assert goalwright("approvals", cwd=office).err == "No run is waiting for an answer.\n"
    assert {run: drift for run, drift in replayed(office).items() if drift} == {}


def test_a_wrong_id_or_a_second_answer_exits_2_and_changes_nothing(
    office: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(noting("milk", "bread"))
    ran = goalwright("run", "--trust", "--json", approving.GOAL, cwd=office, env=MODEL)
    (first, second) = (row["id"] for row in json.loads(ran.out)["waiting"])
    assert f"Answer with: goalwright resume {json.loads(ran.out)['run_id']} --approve '{first[:8]}#1'\n" in ran.err
    (office / "wrong.json").write_text('{"txt": "tea"}', encoding="utf-8")
    (office / "lines.jsonl").write_text(f'{{"id": "{first}", "decision": "perhaps"}}\n', encoding="utf-8")
    for flags, says in [
        (("--approve", "0" * 32), "there is no request"),
        (("--approve", "nonsense"), "is not the id of a request"),
        (("--approve", first, "--deny", first), "is answered twice"),
        (("--answer", "because"), "no question waits"),
        (("--answer", f"{first}=because"), "it is not a question"),
        (("--edit", f"{first}=wrong.json"), "has no argument 'txt'"),
        (("--edit", f"{first}=missing.json"), "cannot be read"),
        (("--edit", first), "not of the form ID=FILE"),
        (("--approvals", "lines.jsonl"), "'perhaps' is not one of allow"),
    ]:
        ran = goalwright("resume", "last", "--json", *flags, cwd=office, env=MODEL)
        assert ran.status == 2, ran.err
        assert says in json.loads(ran.out)["error"]["message"]
        assert "Traceback" not in ran.err
    ran = goalwright("resume", "last", "--json", "--approve", first, cwd=office, env=MODEL)
    assert (ran.status, [row["id"] for row in json.loads(ran.out)["waiting"]]) == (6, [second])
    ran = goalwright("resume", "last", "--json", "--approve", first, "--approve", second, cwd=office, env=MODEL)
    assert (ran.status, "has been answered already: allow" in json.loads(ran.out)["error"]["message"]) == (2, True)
    (office / "right.json").write_text('{"text": "tea"}', encoding="utf-8")
    ran = goalwright("resume", "last", "--json", "--edit", f"{second}=right.json", cwd=office, env=MODEL)
    assert (ran.status, json.loads(ran.out)["status"]) == (0, "done")
    assert notes(office, json.loads(ran.out)["run_id"]) == ["milk", "tea"]
    ran = goalwright("resume", "last", "--json", "--deny", second, cwd=office, env=MODEL)
    assert ran.status == 2
    assert {run: drift for run, drift in replayed(office).items() if drift} == {}


def test_answers_come_from_a_file_or_from_stdin(office: Path, serve: Serve, goalwright: Goalwright) -> None:
    tasks = [
        {"id": f"t{n}", "action_type": "llm", "instruction": f"Do {n}", "needs_approval": f"Do {n} now?"}
        for n in range(12)
    ]
    serve(scripted({"tasks": tasks, "synthesis": "all"}))
    ran = goalwright("run", "--json", approving.GOAL, cwd=office, env=MODEL)
    waiting = json.loads(ran.out)["waiting"]
    assert [row["preview"] for row in waiting] == [f"Do {n} now?\nDo {n}" for n in range(12)]
    random.Random(3).shuffle(waiting)
    denied = {row["task"] for row in waiting[:3]}
    rows = [
        {"id": row["id"], "decision": "deny", "note": "no"}
        if row["task"] in denied
        else {"id": row["id"], "decision": "allow"}
        for row in waiting
    ]
    (office / "some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:5]), encoding="utf-8")
    ran = goalwright("resume", "last", "--json", "--approvals", "some.jsonl", cwd=office, env=MODEL)
    assert (ran.status, len(json.loads(ran.out)["waiting"])) == (6, 7)
    rest = "".join(json.dumps(row) + "\n" for row in rows[5:])
    ran = goalwright("resume", "last", "--json", "--approvals", "-", cwd=office, env=MODEL, stdin=rest)
    document = json.loads(ran.out)
    assert (ran.status, document["status"]) == (1, "partial")
    assert {task["id"] for task in document["tasks"] if task["status"] == "skipped"} == denied
    assert sum(task["status"] == "done" for task in document["tasks"]) == 9


def test_everything_can_be_approved_in_advance(office: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(noting("milk", plan={"tasks": [approving.NOTES | {"needs_approval": True}]}))
    ran = goalwright("run", "--trust", "--approve-all", "--json", approving.GOAL, cwd=office, env=MODEL)
    assert ran.status == 0, ran.err
    assert notes(office, json.loads(ran.out)["run_id"]) == ["milk"]
    trace = goalwright("trace", "export", "last", cwd=office).out
    events = [json.loads(line) for line in trace.splitlines()]
    kinds = [event["type"] for event in events]
    assert [event["by"] for event in events if event["type"] == "approval_given"] == ["cli", "cli"]
    order = [kinds.index("approval_asked"), kinds.index("approval_given"), kinds.index("tool_started")]
    assert [*order, kinds.index("tool_called")] == sorted([*order, kinds.index("tool_called")])


def test_an_untrusted_workspace_can_ask_for_more_but_not_for_less(
    office: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(noting("milk"))
    config = office.parent / "config" / "goalwright"
    config.mkdir(parents=True)
    env = {**MODEL, "XDG_CONFIG_HOME": str(config.parent)}
    assert goalwright("run", "--trust", approving.GOAL, cwd=office, env=env).status == 6
    (config / "config.toml").write_text(ASK, encoding="utf-8")
    (office / "goalwright.toml").write_text('[[approvals]]\ntool = "note_*"\ndecision = "allow"\n', encoding="utf-8")
    ran = goalwright("run", approving.GOAL, cwd=office, env=env)
    assert ran.status == 6, ran.err
    assert "that allow note_* are ignored, because this workspace is not trusted" in ran.err
    assert goalwright("run", "--trust", approving.GOAL, cwd=office, env=env).status == 0
    (office / "goalwright.toml").write_text('approve = "never"\n', encoding="utf-8")
    ran = goalwright("run", approving.GOAL, cwd=office, env=env)
    assert "'approve' is ignored" in ran.err
    (office / "goalwright.toml").write_text('approve = "some"\n', encoding="utf-8")
    ran = goalwright("run", approving.GOAL, cwd=office, env=env)
    assert (ran.status, "'approve' must be one of never, writes, all, not 'some'" in ran.err) == (4, True)


def test_a_terminal_asks_at_once(office: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright) -> None:
    typed = {
        "milk": ["y\n"],
        "bread": ["n\n", "not today\n"],
        "eggs": ["x\n", "e\n", "no json\n", "e\n", '{"text": "tea"}\n'],
        "jam": ["l\n"],
    }

    def task(call: Call) -> Answer:
        if call.tool_results:
            return Say("ok")
        return Say(tool_calls=(("note_write", {"text": instruction(call).removeprefix("Note "), "seconds": 0}),))

    names = list(typed)
    tasks = [
        {"id": name, "action_type": "llm", "instruction": f"Note {name}", "depends_on": names[:number][-1:]}
        for number, name in enumerate(names)
    ]
    serve(scripted({"tasks": tasks}, task=task))
    goalwright("skills", "call", "--trust", "note_write", "{}", cwd=office)
    answers = [line for lines in typed.values() for line in lines]
    for command, lines in ((["run", approving.GOAL], answers), (["resume", "last"], ["\x04"])):
        process, ours = start_at_terminal(nursery, command, office, MODEL)
        shown = ""
        for line in lines:
            shown += until(ours, b"? " if line == "not today\n" else b": ")
            while not shown.rstrip("\x1b[0m").endswith((": ", "? ")):
                shown += until(ours, b": ")
            os.write(ours, line.encode())
        shown += until(ours, None)
        assert process.wait(60) == 6, shown
        assert "wants to call note_write" in shown
        assert "text: jam" in shown
        run_id = json.loads(goalwright("trace", "list", "--json", cwd=office).out)[0]["run_id"]
        assert notes(office, run_id) == ["milk", "tea"]
    assert "not today" in goalwright("trace", "export", run_id, cwd=office).out
    assert [row["arguments"]["text"] for row in json.loads(goalwright("approvals", "--json", cwd=office).out)] == [
        "jam"
    ]
    assert {run: drift for run, drift in replayed(office).items() if drift} == {}


def test_ctrl_c_at_the_prompt_keeps_the_request(
    office: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    serve(noting("milk"))
    goalwright("skills", "call", "--trust", "note_write", "{}", cwd=office)
    process, ours = start_at_terminal(nursery, ["run", approving.GOAL], office, MODEL)
    until(ours, b"Allow it?")
    os.kill(process.pid, signal.SIGINT)
    until(ours, None)
    assert process.wait(60) == 130
    (request,) = json.loads(goalwright("approvals", "--json", cwd=office).out)
    ran = goalwright("resume", "last", "--json", "--approve", request["id"], cwd=office, env=MODEL)
    assert ran.status == 0, ran.err
    assert notes(office, request["run_id"]) == ["milk"]


def test_a_call_that_was_under_way_at_a_crash_asks_again(
    office: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    serve(noting("milk", seconds=60))
    ran = goalwright("run", "--trust", "--json", approving.GOAL, cwd=office, env=MODEL)
    document = json.loads(ran.out)
    run_id, request = document["run_id"], document["waiting"][0]["id"]
    process = nursery.start(
        ["-m", "goalwright", "resume", run_id, "--approve", request], cwd=office, env={**os.environ, **MODEL}
    )
    deadline = time.monotonic() + 60
    while not notes(office, run_id):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait(120)
    assert goalwright("approvals", run_id, "--json", cwd=office).out == "[]\n"
    ran = goalwright("resume", run_id, "--json", cwd=office, env=MODEL)
    assert ran.status == 6, ran.err
    (again,) = json.loads(ran.out)["waiting"]
    assert again["id"] == request
    assert again["preview"].startswith("It may have been done")
    ran = goalwright("resume", run_id, "--json", "--deny", f"{request}=it was done", cwd=office, env=MODEL)
    document = json.loads(ran.out)
    assert (ran.status, document["status"]) == (0, "done")
    assert "it was done" in document["answer"]
    assert notes(office, run_id) == ["milk"]
    assert {run: drift for run, drift in replayed(office).items() if drift} == {}


KILLED = """
import asyncio, os, signal, sys
from goalwright import Answer, TaskStarted, Goalwright

def die(event):
    if isinstance(event, TaskStarted):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with Goalwright(".") as goalwright:
        await goalwright.resume(sys.argv[1], answers={sys.argv[2]: Answer("allow")}, record=die)

asyncio.run(main())
"""


def test_an_answer_outlives_a_kill_before_its_call(
    office: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    server = serve(noting("milk"))
    ran = goalwright("run", "--trust", "--json", approving.GOAL, cwd=office, env=MODEL)
    document = json.loads(ran.out)
    run_id, request = document["run_id"], document["waiting"][0]["id"]
    killed = nursery.run_python(["-c", KILLED, run_id, request], {**os.environ, **MODEL}, office)
    assert killed.status == -signal.SIGKILL
    assert notes(office, run_id) == []
    ran = goalwright("resume", run_id, "--json", "--approve", request, cwd=office, env=MODEL)
    assert (ran.status, "has been answered already" in ran.out) == (2, True)
    ran = goalwright("resume", run_id, "--json", cwd=office, env=MODEL)
    assert (ran.status, json.loads(ran.out)["status"]) == (0, "done"), ran.err
    assert (notes(office, run_id), len(server.calls)) == (["milk"], 3)


def test_approvals_of_an_imported_run_allow_nothing(
    office: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright, tmp_path: Path
) -> None:
    serve(noting("milk"))
    ran = goalwright("run", "--trust", "--json", approving.GOAL, cwd=office, env=MODEL)
    document = json.loads(ran.out)
    run_id, request = document["run_id"], document["waiting"][0]["id"]
    nursery.run_python(["-c", KILLED, run_id, request], {**os.environ, **MODEL}, office)
    goalwright("trace", "export", run_id, "-o", str(tmp_path / "run.jsonl"), cwd=office)
    elsewhere = tmp_path / "elsewhere"
    approving.prepare(elsewhere)
    assert goalwright("trace", "import", str(tmp_path / "run.jsonl"), cwd=elsewhere).status == 0
    ran = goalwright("resume", run_id, "--trust", "--json", cwd=elsewhere, env=MODEL)
    assert ran.status == 6, ran.err
    assert [row["id"] for row in json.loads(ran.out)["waiting"]] == [request]
    ran = goalwright("resume", run_id, "--json", "--approve", request, cwd=elsewhere, env=MODEL)
    assert (ran.status, notes(elsewhere, run_id)) == (0, ["milk"])
    assert {run: drift for run, drift in replayed(elsewhere).items() if drift} == {}


def test_a_batch_goes_on_with_other_goals_and_continues_those_that_were_answered(
    office: Path, serve: Serve, goalwright: Goalwright
) -> None:
    def script(call: Call) -> Answer:
        if call.role == "decomposer":
            which = "Note them" if "goal note" in call.user else "fail" if "goal bad" in call.user else "Say it"
            return Say(json.dumps({"tasks": [{"id": "notes", "action_type": "llm", "instruction": which}]}))
        return noting("milk")(call)

    server = serve(script)
    goals = [{"id": f"g{n}", "goal": f"goal {'note' if n % 2 else 'plain'} {n}"} for n in range(6)]
    (office / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals), encoding="utf-8")
    command = ("batch", "goals.jsonl", "-o", "out.jsonl", "--json", "--jobs", "2")
    ran = goalwright(*command, "--trust", cwd=office, env=MODEL)
    assert ran.status == 6, ran.err
    assert "3 goals waiting for an answer; see `goalwright approvals`" in ran.err
    report = json.loads(ran.out)
    assert (report["done"], report["waiting"], report["left"]) == (3, 3, 0)
    before = _rows(office / "out.jsonl")
    assert {row["id"]: row["status"] for row in before.values()} == {
        f"g{n}": "waiting" if n % 2 else "done" for n in range(6)
    }
    assert len(before["g1"]["waiting"]) == 1
    listed = json.loads(goalwright("approvals", "--json", cwd=office).out)
    assert len({row["run_id"] for row in listed}) == 3
    run = before["g1"]["run_id"]
    assert goalwright("resume", run, "--approve", before["g1"]["waiting"][0]["id"], cwd=office, env=MODEL).status == 0
    calls = len(server.calls)
    ran = goalwright(*command, "--resume", cwd=office, env=MODEL)
    assert ran.status == 6, ran.err
    assert len(server.calls) == calls, "the answered goal had ended, and the others still wait"
    after = _rows(office / "out.jsonl")
    assert (after["g1"]["status"], after["g1"]["run_id"], after["g3"]) == ("done", run, before["g3"])
    assert json.loads(ran.out)["skipped"] == 5
    ran = goalwright(*command, "--resume", "--approve-all", cwd=office, env=MODEL)
    assert ran.status == 0, ran.err
    assert {row["status"] for row in _rows(office / "out.jsonl").values()} == {"done"}
    assert {run: drift for run, drift in replayed(office).items() if drift} == {}


def test_a_batch_with_a_failed_goal_exits_1_though_others_wait(
    office: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(lambda call: Say("no plan") if "bad" in call.user else noting("milk")(call))
    (office / "goals.txt").write_text("Note it\nbad one\n", encoding="utf-8")
    ran = goalwright("batch", "goals.txt", "-o", "out.jsonl", "--json", "--trust", cwd=office, env=MODEL)
    assert ran.status == 1, ran.err
    assert sorted(row["status"] for row in _rows(office / "out.jsonl").values()) == ["failed", "waiting"]


def test_records_show_what_a_run_waits_for(office: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(noting("<b>milk"))
    goalwright("run", "--trust", approving.GOAL, cwd=office, env=MODEL)
    (listed,) = json.loads(goalwright("trace", "list", "--json", cwd=office).out)
    assert listed["status"] == "waiting"
    shown = goalwright("trace", "show", cwd=office)
    assert "wants to call note_write" in shown.out
    assert "answer with: goalwright resume" in shown.out
    document = json.loads(goalwright("trace", "show", "--json", cwd=office).out)
    assert (document["status"], document["spans"][1]["status"], len(document["waiting"])) == ("waiting", "waiting", 1)
    goalwright("trace", "export", "last", "--html", "-o", "page.html", cwd=office)
    page = (office / "page.html").read_text(encoding="utf-8")
    assert "Waiting for an answer" in page
    assert "<b>milk" not in page
    checks = json.loads(goalwright("doctor", "--json", cwd=office, env=MODEL).out)
    assert [check["found"] for check in checks if check["topic"] == "approvals"] == [
        "1 request of 1 run waiting for your answer"
    ]
    assert "waiting for a person: task notes wants to call note_write" in goalwright("replay", "last", cwd=office).out


def _rows(path: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}
