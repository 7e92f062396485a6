"""`goalwright run` and `goalwright plan` as users and scripts call them: real processes, a real server."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.nursery import Nursery, Ran
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, instruction, scripted
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
GOAL = "Write the API documentation of the to-do service"
QUESTION = '{"tasks": [], "clarification": "Which service?"}'
SURVEY = {"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "List them"}
PLAN = {"tasks": [SURVEY, {"id": "brief", "action_type": "llm", "depends_on": ["survey"]}], "synthesis": "short"}


def test_json_holds_one_document_and_progress_goes_to_stderr(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    ran = goalwright("run", "--json", *MODEL, "--workspace", str(workspace), GOAL)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert document["status"] == "done"
    assert document["skills"] == ["cataloging-apis"]
    assert [task["status"] for task in document["tasks"]] == ["done", "done"]
    assert "skills selected: cataloging-apis" in ran.err
    assert "sk-test" not in ran.out + ran.err


def test_the_answer_is_printed_then_one_line_about_the_run(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN, synthesis="# Endpoints"))
    ran = goalwright("run", *MODEL, "-", cwd=workspace, stdin=f"\ufeff{GOAL}\n")
    assert ran.status == 0, ran.err
    assert json.loads(goalwright("trace", "list", "--json", cwd=workspace).out)[0]["goal"] == GOAL
    assert ran.out == "# Endpoints\n"
    assert "done · 2/2 tasks · 4 calls · 60 tokens · cost unknown" in ran.err


def test_an_interrupted_plan_is_a_document_too(workspace: Path, serve: Serve, nursery: Nursery) -> None:
    server = serve(lambda _: Say("late", after=600))
    command = ["-m", "goalwright", "plan", "--json", *MODEL, GOAL]
    with nursery.start(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not server.calls:
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(120)
    assert (process.returncode, json.loads(out)["error"]["code"]) == (130, "INTERRUPTED")


def test_stdin_is_read_for_one_thing(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(PLAN))
    both = goalwright("run", "--json", *MODEL, "--plan", "-", "-", cwd=workspace, stdin=json.dumps(PLAN))
    assert (both.status, json.loads(both.out)["error"]["message"]) == (2, "stdin cannot be both the goal and the plan")
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 0
    given = ("--input", "survey=-", "--input", "brief=-")
    twice = goalwright("rerun", "last", "--json", *given, cwd=workspace, stdin="an output")
    message = "stdin cannot be both the output of survey and the output of brief"
    assert (twice.status, json.loads(twice.out)["error"]["message"]) == (2, message)


def test_a_partial_run_exits_1_and_writes_the_answer_to_a_file(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    plan = {"tasks": [SURVEY, {"id": "other", "action_type": "llm", "instruction": "fail"}], "synthesis": "both"}

    def some(call: Call) -> Answer:
        return Fail(400, "cannot") if instruction(call) == "fail" else Say("ok")

    serve(scripted(plan, task=some))
    target = workspace / "answer.md"
    ran = goalwright("run", *MODEL, "-q", "-o", str(target), GOAL, cwd=workspace)
    assert ran.status == 1
    assert ran.out == ""
    assert "Missing from this answer" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["run", "--json", "--model", "local", GOAL], 4, "is not installed"),
        (["run", "--json", "--model", "local/nonsense", GOAL], 4, "unknown local model 'nonsense'"),
        (["run", "--json", "--model", "openai/x", ""], 2, "the goal is empty"),
        (["run", "--json", "--model", "", GOAL], 2, "--model is empty"),
        (["run", "--json", "--model", "openai/x", "--file", "/dev/null", GOAL], 2, "is not a regular file"),
        (["run", "--json", "--model", "openai/x", "caf\udce9"], 2, "not valid UTF-8"),
        (["run", "--json", "--model", "openai/x", "--file", "nowhere.md", GOAL], 2, "no such file"),
        (["run", "--json", "--model", "openai/x", "--file", "-", GOAL], 2, "tasks read files by name"),
        (["run", "--json", "--model", "openai/x", "--skill", "cataloging", GOAL], 2, "cataloging-apis"),
        (
            ["run", "--json", "--model", "openai/x", "-o", "no/such/folder/x.md", GOAL],
            2,
            "no/such/folder does not exist",
        ),
        (["run", "--json", "--workspace", "nowhere", GOAL], 2, "is not a folder"),
        (["run", "--json", "--no-such-option", GOAL], 2, "No such option"),
        (
            ["run", "--json", "--model", "openai/x", "--max-tokens", "-5", GOAL],
            2,
            "--max-tokens must be a whole number above 0",
        ),
        (["run", "--json", "--model", "openai/x", "--plan", "missing.yaml", GOAL], 2, "cannot be read"),
        (["run", "--json", "--model", "openai/x", "-c", "detector=psychic", GOAL], 2, "no detector 'psychic'"),
        (["frobnicate", "--json"], 2, "No such command"),
    ],
)
def test_a_run_that_cannot_start_is_reported_with_a_hint_and_no_traceback(
    workspace: Path, goalwright: Goalwright, arguments: list[str], status: int, says: str
) -> None:
    ran = goalwright(*arguments, cwd=workspace)
    assert ran.status == status, ran.err
    error = json.loads(ran.out)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert says in error["message"]
    assert "Traceback" not in ran.err


def test_a_refused_key_exits_4_and_names_the_variable(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(lambda _: Fail(401, "bad key"))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 4
    error = json.loads(ran.out)["error"]
    assert error["code"] == "KEY_REFUSED"
    assert "OPENAI_API_KEY" in error["hint"]


def test_a_missing_key_exits_4(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(PLAN))
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace, env={"OPENAI_API_KEY": ""})
    assert ran.status == 4
    assert json.loads(ran.out)["error"]["code"] == "KEY_REFUSED"
    assert server.calls == []


def test_a_budget_exits_5(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(PLAN))
    ran = goalwright("run", "--json", *MODEL, "--max-tokens", "15", GOAL, cwd=workspace)
    assert ran.status == 5
    document = json.loads(ran.out)
    assert document["status"] == "stopped"
    assert (document["tasks"], document["usage"]["calls"]) == ([], 0), "it is too small for the first prompt"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["rum", "x"], "did you mean 'run'?"), (["skills", "lst"], "did you mean 'list'?"), (["zzz"], "No such command")],
)
def test_a_mistyped_command_is_answered_with_the_nearest(
    goalwright: Goalwright, arguments: list[str], says: str
) -> None:
    ran = goalwright(*arguments)
    assert ran.status == 2
    assert says in ran.err


def test_a_plan_is_drawn(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(PLAN))
    graph = goalwright("plan", *MODEL, "--format", "graph", GOAL, cwd=workspace)
    assert graph.status == 0, graph.err
    assert [line.split()[1] for line in graph.out.splitlines() if line.startswith("○")] == ["survey", "brief"]
    assert goalwright("plan", *MODEL, "--format", "dot", GOAL, cwd=workspace).out.startswith("digraph plan {")
    ran = goalwright("plan", *MODEL, "-o", "plan.svg", GOAL, cwd=workspace)
    assert "write it as YAML" in ran.err
    assert (workspace / "plan.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_a_plan_is_written_edited_and_run(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(scripted(PLAN))
    path = workspace / "plan.yaml"
    ran = goalwright("plan", "--json", *MODEL, "-o", str(path), GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert document == {"goal": GOAL} | json.loads(ran.out)
    document["tasks"][0]["instruction"] = "List only the public ones"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    server.calls.clear()
    ran = goalwright("run", "--json", *MODEL, "--plan", str(path), cwd=workspace)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["goal"] == GOAL
    assert server.asked("decomposer") == []
    assert instruction(server.asked("task")[0]) == "List only the public ones"

    document["tasks"][0]["depends_on"] = ["brief"]
    document["tasks"][1]["name"] = 5
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    ran = goalwright("run", "--json", *MODEL, "--plan", str(path), GOAL, cwd=workspace)
    assert ran.status == 2
    message = json.loads(ran.out)["error"]["message"]
    assert "in a circle: survey → brief → survey" in message
    assert "'name' must be a string" in message


def test_a_question_exits_6_with_how_to_answer(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(lambda call: Say(json.dumps(PLAN) if "it is a=b" in call.user else QUESTION))
    ran = goalwright("run", *MODEL, "with sk-test-0123456789abcdef", cwd=workspace)
    assert ran.status == 6
    assert "Question: Which service?" in ran.err
    command = shlex.split(ran.err.partition("Answer with: ")[2].splitlines()[0])
    assert command[:2] + command[3:] == ["goalwright", "resume", "--answer", "TEXT"]
    assert "sk-test" not in ran.err
    ran = goalwright(*command[1:-1], "it is a=b", "--json", cwd=workspace)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["run_id"], document["status"], document["waiting"]) == (command[2], "done", [])
    assert "Which service?\nit is a=b" in server.asked("decomposer")[-1].user
    ran = goalwright("run", *MODEL, "--answer", "mine", "--", "-x", cwd=workspace)
    assert ran.status == 6
    assert "mine" in server.calls[-1].user
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["question"]) == (6, "waiting", "Which service?")
    (request,) = document["waiting"]
    assert set(request) == {"id", "task", "kind", "tool", "arguments", "preview", "asked", "schema"}
    assert (request["kind"], request["preview"]) == ("question", "Which service?")


@pytest.mark.parametrize(("pressed", "status"), [(signal.SIGINT, 130), ("\x04", 6)])
def test_a_question_can_be_declined(
    workspace: Path, serve: Serve, nursery: Nursery, pressed: signal.Signals | str, status: int
) -> None:
    serve(lambda _: Say(QUESTION))
    process, ours = start_at_terminal(nursery, ["run", *MODEL, GOAL], workspace, {})
    shown = until(ours, b"Your answer")
    if isinstance(pressed, str):
        os.write(ours, pressed.encode())
    else:
        os.kill(process.pid, pressed)
    shown += until(ours, None)
    assert process.wait(120) == status
    assert "Question: Which service?" in shown
    assert "Answer with: goalwright resume" in shown


def test_a_question_does_not_overwrite_a_plan(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(lambda call: Say(json.dumps(PLAN) if "the to-do one" in call.user else QUESTION))
    (workspace / "plan.yaml").write_text("a plan", encoding="utf-8")
    ran = goalwright("plan", *MODEL, "-o", "plan.yaml", "--", GOAL, cwd=workspace)
    assert ran.status == 6
    assert (workspace / "plan.yaml").read_text(encoding="utf-8") == "a plan"
    assert "Question: Which service?" in ran.err
    assert "Run it with" not in ran.err
    command = shlex.split(ran.err.partition("Answer with: ")[2].splitlines()[0])
    assert command == ["goalwright", "plan", *MODEL, "-o", "plan.yaml", "--answer", "TEXT", "--", GOAL]
    ran = goalwright(*[word if word != "TEXT" else "the to-do one" for word in command[1:]], cwd=workspace)
    assert ran.status == 0, ran.err
    assert len(yaml.safe_load((workspace / "plan.yaml").read_text(encoding="utf-8"))["tasks"]) == 2


def test_plan_asks_its_question_at_a_terminal_and_goes_on(workspace: Path, serve: Serve, nursery: Nursery) -> None:
    server = serve(lambda call: Say(json.dumps(PLAN) if "the to-do one" in call.user else QUESTION))
    process, ours = start_at_terminal(nursery, ["plan", *MODEL, "-o", "plan.yaml", GOAL], workspace, {})
    shown = until(ours, b"Your answer")
    os.write(ours, b"\n")
    until(ours, b"Your answer")
    os.write(ours, b"the to-do one\n")
    shown += until(ours, None)
    assert process.wait(120) == 0, shown
    assert "Which service?\nthe to-do one" in server.calls[-1].user
    assert len(yaml.safe_load((workspace / "plan.yaml").read_text(encoding="utf-8"))["tasks"]) == 2


def test_a_question_of_plan_can_be_left_open(workspace: Path, serve: Serve, nursery: Nursery) -> None:
    serve(lambda _: Say(QUESTION))
    process, ours = start_at_terminal(nursery, ["plan", *MODEL, GOAL], workspace, {})
    until(ours, b"Your answer")
    os.write(ours, b"\x04")
    shown = until(ours, None)
    assert process.wait(120) == 6
    assert "Answer with: goalwright plan" in shown


def test_a_question_in_place_of_a_plan_is_one_document_with_json(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(lambda _: Say(QUESTION))
    ran = goalwright("plan", "--json", *MODEL, GOAL, cwd=workspace)
    assert (ran.status, json.loads(ran.out)["clarification"]) == (6, "Which service?")


def test_the_resume_command_names_a_journal_outside_the_workspace(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    ran = goalwright("run", *MODEL, "--max-tokens", "15", "--journal", "own.sqlite", GOAL, cwd=workspace)
    assert ran.status == 5
    command = shlex.split(ran.err.rstrip().splitlines()[-1])
    assert command[-4:-1] == ["--journal", f"sqlite:///{workspace / 'own.sqlite'}", "--max-tokens"]
    assert int(command[-1]) > 15
    ran = goalwright(*command[1:], cwd=workspace)
    assert ran.status == 0, ran.err


def test_a_dry_run_shows_selection_prompt_and_estimate_without_a_call(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN))
    ran = goalwright("run", "--dry-run", *MODEL, GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert [line.split()[0] for line in ran.out.splitlines()] == ["Skills", "cataloging-apis", "Estimate:"]
    whole = goalwright("run", "--dry-run", "-v", "--model", "openai/gpt-4o", GOAL, cwd=workspace).out
    assert re.search(r"Estimate: about [\d,]+ tokens \(\$0\.\d{4}\) to plan", whole)
    assert "<available_skills>" in whole
    document = json.loads(goalwright("run", "--dry-run", "--json", GOAL, cwd=workspace).out)
    assert document["selected"][0]["name"] == "cataloging-apis"
    assert server.calls == []


def test_ctrl_c_ends_cleanly_with_130(workspace: Path, serve: Serve, nursery: Nursery) -> None:
    server = serve(scripted(PLAN, task=lambda _: Say("late", after=30)))
    command = ["-m", "goalwright", "run", "--json", *MODEL, GOAL]
    process = nursery.start(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not server.asked("task") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["status"] == "interrupted"
    assert [task["status"] for task in document["tasks"]] == ["cancelled", "pending"]
    assert "Traceback" not in err


def test_settings_come_from_flag_environment_and_files_in_that_order(
    workspace: Path, own_home: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN))
    (workspace / "goalwright.toml").write_text(
        'model = "openai/from-workspace"\napi_base = "http://127.0.0.1:1"\n[models]\nsynthesis = "openai/writer"\n',
        encoding="utf-8",
    )
    user = own_home / ".config" / "goalwright"
    user.mkdir(parents=True)
    (user / "config.toml").write_text('model = "openai/from-user"\nmax_tasks = 7\n', encoding="utf-8")
    ran = goalwright("run", "--json", GOAL, cwd=workspace)
    assert ran.status == 0, ran.err
    assert [call.body["model"] for call in server.calls] == [
        "from-workspace",
        "from-workspace",
        "from-workspace",
        "writer",
    ]
    assert "'api_base' is ignored, because this workspace is not trusted" in ran.err
    assert "At most 7" in server.calls[0].system
    server.calls.clear()
    goalwright("run", "--json", GOAL, cwd=workspace, env={"GOALWRIGHT_MODEL": "openai/from-env"})
    assert server.calls[0].body["model"] == "from-env"


def test_a_run_whose_plan_never_uses_a_required_skill_exits_1_before_its_tasks(
    workspace: Path, serve: Serve, goalwright: Goalwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(scripted(PLAN))
    (workspace / "goalwright.toml").write_text('[skills]\nrequire = ["code-review"]\n', encoding="utf-8")
    stranger = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    assert (stranger.status, "[skills] require is ignored" in stranger.err) == (0, True)
    asked = len(server.calls)
    monkeypatch.setenv("GOALWRIGHT_SKILLS_REQUIRE", "code-review")
    ran = goalwright("run", "--json", *MODEL, GOAL, cwd=workspace)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["tasks"], len(server.calls) - asked) == (1, "failed", [], 3)
    assert "does not use the required skill 'code-review'" in document["error"]
    assert "take it out of `require`" in document["error"]
    monkeypatch.setenv("GOALWRIGHT_SKILLS_REQUIRE", "code-revue")
    ran = goalwright("run", *MODEL, GOAL, cwd=workspace)
    assert (ran.status, "there is no such skill; known skills: code-review" in ran.err) == (1, True)
    assert goalwright("run", *MODEL, "--skill", "code-review", GOAL, cwd=workspace).status == 1


def test_what_the_flag_leaves_out_is_not_blamed_on_the_settings(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    left_out = ["--without", "cataloging-apis", *MODEL]
    asked = goalwright("run", *left_out, "--skill", "cataloging-apis", GOAL, cwd=workspace)
    assert (asked.status, "the skill 'cataloging-apis' is left out of this run" in asked.err) == (2, True)
    (workspace / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    planned = goalwright("run", *left_out, "--plan", "plan.json", cwd=workspace)
    assert (planned.status, "the skill 'cataloging-apis' is left out of this run" in planned.err) == (2, True)
    typo = goalwright("run", "--without", "cataloging-apes", *MODEL, "--json", GOAL, cwd=workspace)
    assert "skills_without names 'cataloging-apes', and there is no such skill" in typo.err
    assert "[skills]" not in asked.err + planned.err + typo.err
    (workspace / "goalwright.toml").write_text('[skills]\nwithout = ["cataloging-apis"]\n', encoding="utf-8")
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 4, "no file leaves a skill out of a run"
