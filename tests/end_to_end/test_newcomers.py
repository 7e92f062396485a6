"""What people stumble over on their first day, as they would type it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goalwright import Goalwright, TextStreamed
from goalwright.settings.settings import Settings
from tests.nursery import Nursery, Ran
from tests.openai_server import OpenAIServer, Script, scripted

Serve = Callable[[Script], OpenAIServer]
Command = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
DOCS = Path(__file__).parent.parent.parent / "docs"
GOAL = "Write the API documentation of the to-do service"
READING = {"id": "sheet", "action_type": "tool", "name": "excel_read", "arguments": {"path": "a.xlsx"}}
# The process that tests are forked from may have imported the tools already.
WITHOUT_EXCEL = (
    "import sys; sys.modules['openpyxl'] = None; sys.modules.pop('goalwright_skills.builtin.excel.sheet_tools', None); "
    "from goalwright.interfaces.cli.main import main; main(sys.argv[1:])"
)


@pytest.fixture
def without_excel(nursery: Nursery, workspace: Path) -> Callable[..., Ran]:
    """`goalwright` where the extra `excel` is not installed."""
    return lambda *arguments: nursery.run_python(["-c", WITHOUT_EXCEL, *arguments], dict(os.environ), workspace)


def test_a_tool_whose_extra_is_missing_is_named_with_it(workspace: Path, without_excel: Callable[..., Ran]) -> None:
    called = without_excel("skills", "call", "excel_read", "{}")
    assert called.status == 2
    assert (
        "the tool 'excel_read' cannot be used: it needs openpyxl: run `pip install 'goalwright[excel]'`" in called.err
    )
    (workspace / "plan.yaml").write_text(json.dumps({"tasks": [READING]}), encoding="utf-8")
    planned = without_excel("run", "--dry-run", "--plan", "plan.yaml")
    assert planned.status == 2
    assert (
        "the tool 'excel_read' cannot be used: it needs openpyxl: run `pip install 'goalwright[excel]'`" in planned.err
    )
    assert "fix goalwright_skills" not in called.err + planned.err


def test_a_replay_in_ci_needs_no_extra_that_the_run_had(
    workspace: Path, serve: Serve, goalwright: Command, without_excel: Callable[..., Ran]
) -> None:
    serve(scripted({"tasks": [{**READING, "needs_approval": False}, {"id": "b", "action_type": "llm"}]}))
    assert goalwright("run", *MODEL, GOAL, cwd=workspace).status == 1  # there is no such file, which is on record
    assert goalwright("trace", "export", "last", "-o", "run.jsonl", cwd=workspace).status == 0
    replayed = without_excel("replay", "run.jsonl", "--strict", "--json")
    assert (replayed.status, json.loads(replayed.out)["drift"]) == (0, []), replayed.err


def test_a_run_recorded_without_an_extra_replays_where_it_is_installed(
    workspace: Path, serve: Serve, goalwright: Command, without_excel: Callable[..., Ran]
) -> None:
    serve(scripted({"tasks": [{"id": "b", "action_type": "llm", "instruction": "Do it"}]}))
    ran = without_excel("run", *MODEL, GOAL)
    assert ran.status == 0, ran.err
    assert "excel_read" not in goalwright("trace", "export", "last", cwd=workspace).out
    assert goalwright("replay", "last", "--strict", cwd=workspace).status == 0


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["skills", "new", "code-review", "--description", "Reviews our code."], "skill"),
        (["skills", "new", "code-review", "--skill", "--description", "Reviews our code."], "skill"),
        (["skills", "new", "excel_read", "--tool"], "tool"),
    ],
)
def test_a_new_name_that_shadows_a_bundled_one_is_told(
    command: list[str], name: str, tmp_path: Path, goalwright: Command
) -> None:
    ran = goalwright(*command, cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert f"is now used instead of the {name} of that name that comes with goalwright" in ran.err
    quiet = goalwright("skills", "new", "meeting-notes", "--description", "Ours.", "-q", cwd=tmp_path)
    assert (quiet.status, quiet.err) == (0, "")


def test_other_names_are_made_without_a_warning_and_the_system_s_own_counts_first(
    tmp_path: Path, goalwright: Command
) -> None:
    assert "warning" not in goalwright("skills", "new", "postmortems", "--description", "Ours.", cwd=tmp_path).err
    system = tmp_path / ".agents" / "sys.skills" / "runbooks"
    system.mkdir(parents=True)
    (system / "SKILL.md").write_text("---\nname: runbooks\ndescription: Theirs.\n---\nx\n", encoding="utf-8")
    ran = goalwright("skills", "new", "runbooks", "--description", "Ours.", cwd=tmp_path)
    assert "'runbooks' is not used" in ran.err
    assert str(system) in ran.err


def test_built_in_tools_that_read_can_be_called_by_hand(workspace: Path, goalwright: Command) -> None:
    (workspace / "notes.md").write_text("one\ntwo\n", encoding="utf-8")
    (workspace / ".env").write_text("A=b\n", encoding="utf-8")
    read = json.loads(goalwright("skills", "call", "ReadFile", '{"path": "notes.md"}', cwd=workspace).out)
    assert (read["status"], "two" in read["text"]) == ("success", True)
    hidden = goalwright("skills", "call", "ReadFile", '{"path": ".env"}', cwd=workspace)
    assert (hidden.status, json.loads(hidden.out)["error"]["code"]) == (1, "ACCESS_DENIED")
    found = json.loads(goalwright("skills", "call", "Grep", '{"pattern": "tw."}', cwd=workspace).out)
    assert "notes.md" in found["text"]
    loaded = json.loads(goalwright("skills", "call", "Skill", '{"name": "cataloging-apis"}', cwd=workspace).out)
    assert loaded["data"]["name"] == "cataloging-apis"
    writing = goalwright("skills", "call", "WriteFile", '{"path": "x", "content": "y"}', cwd=workspace)
    assert (writing.status, "there is no tool 'WriteFile'" in writing.err) == (2, True)


def test_a_plan_without_a_goal_selects_no_skill(workspace: Path, serve: Serve, goalwright: Command) -> None:
    skill = workspace / "skills" / "carrying-out-plans"
    skill.mkdir()
    text = "---\nname: carrying-out-plans\ndescription: Carry out this plan. Use to carry out a plan.\n---\nDo it.\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    serve(scripted({"tasks": []}))
    plan: dict[str, Any] = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say hello"}]}
    (workspace / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    ran = goalwright("run", *MODEL, "--plan", "plan.json", "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)["skills"]) == (0, []), ran.err
    assert "skills of the plan" not in ran.err
    assert "carrying-out-plans" in goalwright("skills", "select", "Carry out this plan.", cwd=workspace).out


@pytest.mark.parametrize(
    ("goal", "language"),
    [("Räume die Garage auf", "German"), ("给我讲个笑话吧", "Chinese")],
)
def test_a_goal_in_another_language_that_finds_no_skill_is_told_its_language(
    goal: str, language: str, workspace: Path, goalwright: Command, serve: Serve
) -> None:
    said = f"the goal is in {language}, the skills are described in English"
    selected = goalwright("skills", "select", goal, cwd=workspace)
    assert selected.out == ""
    assert said in selected.err
    assert said in goalwright("run", "--dry-run", "--model", "local", goal, cwd=workspace).err


async def test_events_and_record_deliver_the_text_as_it_is_written(workspace: Path, serve: Serve) -> None:
    two = {"tasks": [{"id": name, "action_type": "llm", "instruction": name} for name in "ab"], "synthesis": "both"}
    serve(scripted(two, synthesis="# Endpoints"))
    async with Goalwright(workspace, Settings(model="openai/test-model")) as runtime:
        async with runtime.events(GOAL) as events:
            texts = [event.text async for event in events if isinstance(event, TextStreamed)]
        assert "".join(texts) == "# Endpoints"
        seen: list[object] = []
        await runtime.run(GOAL, record=seen.append)
    assert "".join(event.text for event in seen if isinstance(event, TextStreamed)) == "# Endpoints"


async def test_a_goal_may_ask_for_no_streamed_text(workspace: Path, serve: Serve) -> None:
    from goalwright import Goal

    server = serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "Do it"}]}))
    seen: list[object] = []
    async with Goalwright(workspace, Settings(model="openai/test-model", stream_plan=False)) as runtime:
        await runtime.run(Goal(GOAL, stream=False), record=seen.append)
        await runtime.run(GOAL)
    assert not any(isinstance(event, TextStreamed) for event in seen)
    assert not any(call.body.get("stream") for call in server.calls if call.role != "decomposer")


def test_a_batch_says_that_it_is_loading(workspace: Path, serve: Serve, goalwright: Command) -> None:
    serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "Do it"}]}))
    (workspace / "goals.txt").write_text(f"{GOAL}\n", encoding="utf-8")
    ran = goalwright("batch", *MODEL, "goals.txt", "-o", "out.jsonl", cwd=workspace)
    assert (ran.status, ran.err.splitlines()[0]) == (0, "Loading: checking that openai/test-model can be called")
    quiet = goalwright("batch", *MODEL, "goals.txt", "-o", "more.jsonl", "-q", cwd=workspace)
    assert "Loading" not in quiet.err


def test_a_model_that_cannot_be_reached_is_named_with_its_address(workspace: Path, goalwright: Command) -> None:
    env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "GOALWRIGHT_RETRY_PATIENCE": "0.1"}
    for address in ({"OPENAI_API_BASE": "http://127.0.0.1:9/v1"}, {"GOALWRIGHT_API_BASE": "http://127.0.0.1:9/v1"}):
        ran = goalwright("run", *MODEL, GOAL, cwd=workspace, env=env | address)
        assert ran.status == 1
        assert "openai/test-model could not be reached at http://127.0.0.1:9/v1" in ran.err


def test_a_plan_that_the_words_of_a_goal_determine_needs_no_model(tmp_path: Path, goalwright: Command) -> None:
    ran = goalwright("plan", "--model", "local", "Write a haiku, list ten primes and explain recursion", cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert "List ten primes" in ran.out
    whole = goalwright("run", "--model", "local", "--json", "Write a haiku", cwd=tmp_path)
    assert (whole.status, "is not installed" in json.loads(whole.out)["error"]["message"]) == (4, True)


def test_the_first_plan_of_the_documentation_runs_as_it_is(workspace: Path, serve: Serve, goalwright: Command) -> None:
    first = re.search(r"```yaml\n(.*?)```", (DOCS / "plans.md").read_text(encoding="utf-8"), re.DOTALL)
    assert first is not None
    (workspace / "plan.yaml").write_text(first[1], encoding="utf-8")
    (workspace / "notes.md").write_text("Monday: shipped the cache.\n", encoding="utf-8")
    server = serve(scripted({"tasks": []}))
    ran = goalwright("run", *MODEL, "--plan", "plan.yaml", "--json", cwd=workspace)
    assert (ran.status, json.loads(ran.out)["status"]) == (0, "done"), ran.err
    assert any("shipped the cache" in call.user for call in server.asked("task"))
    drawn = goalwright("plan", "--of", "last", "--format", "graph", cwd=workspace)
    assert drawn.out.strip() in (DOCS / "plans.md").read_text(encoding="utf-8")


def test_the_first_tool_is_what_its_page_shows(tmp_path: Path, goalwright: Command) -> None:
    page = (DOCS / "first-tool.md").read_text(encoding="utf-8")
    assert goalwright("skills", "new", "word-count", "--runtime", "python", cwd=tmp_path).status == 0
    shown = re.search(r"```yaml\n(.*?)```.*?```text\n(.*?)\n(.*?)\n```", page, re.DOTALL)
    assert shown is not None
    manifest, request, answer = shown.groups()
    assert (tmp_path / "skills/word-count/skill.yaml").read_text(encoding="utf-8").startswith(manifest)
    arguments = json.dumps(json.loads(request)["arguments"])
    called = goalwright("skills", "call", "word_count_run", arguments, "--trust", cwd=tmp_path)
    assert called.status == 0, called.err
    assert json.loads(called.out)["data"]["output"] == json.loads(answer)["output"]


def test_the_skill_of_the_tutorial_has_a_name_of_its_own_and_is_selected(tmp_path: Path, goalwright: Command) -> None:
    page = (DOCS / "first-skill.md").read_text(encoding="utf-8")
    command = shlex.split(re.findall(r"^goalwright (skills new .*)$", page, re.MULTILINE)[0])
    goal = shlex.split(re.findall(r"^goalwright (skills select .*)$", page, re.MULTILINE)[0])
    added = goalwright(*command, cwd=tmp_path)
    assert (added.status, "warning" in added.err) == (0, False)
    assert json.loads(goalwright(*goal, "--json", cwd=tmp_path).out)["selected"][0]["name"] == command[2]
