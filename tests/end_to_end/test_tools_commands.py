"""Programs as tools: written, checked, trusted, called by hand and by a plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.nursery import Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, scripted

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
COUNT = """
import json, sys
request = json.loads(sys.stdin.readline())
text = request["arguments"]["text"]
print("counting", file=sys.stderr)
print(json.dumps({"output": {"words": len(text.split()) * request["arguments"]["times"]}, "error": ""}))
"""
MANIFEST = """
name: word_count
description: Count the words of a text, up to a million of them.
runtime: python
entry: main.py
parameters:
  - {name: text, type: string, required: true, description: "The text, at most a million words. Example: one two"}
  - {name: times, type: integer, default: 1, description: "How often to count, 1 by default. Example: 2"}
"""
LOUD = """
print("imported")


def say(word: str) -> str:
    '''Says it.'''
    print("called")
    return word
"""
CALL: dict[str, object] = {
    "id": "count",
    "action_type": "tool",
    "name": "word_count",
    "arguments": {"text": "one two three", "times": 2},
}
PLAN = {
    "tasks": [
        CALL,
        {"id": "say", "action_type": "llm", "instruction": "Say <<count.output>>", "depends_on": ["count"]},
    ]
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with a tool `word_count`."""
    folder = tmp_path / "shop" / "skills" / "word"
    folder.mkdir(parents=True)
    (folder / "skill.yaml").write_text(MANIFEST, encoding="utf-8")
    (folder / "main.py").write_text(COUNT, encoding="utf-8")
    return tmp_path / "shop"


def test_a_plan_of_tools_alone_needs_no_model(shop: Path, goalwright: Goalwright) -> None:
    plan = {"tasks": [CALL, CALL | {"id": "again", "depends_on": ["count"]}]}
    (shop / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    ran = goalwright("run", "--json", "--trust", "--plan", "plan.json", cwd=shop)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["answer"]) == ("done", '{"words": 6}')
    assert (document["usage"]["calls"], document["cost_usd"]) == (0, 0.0)
    assert goalwright("run", "--dry-run", "--plan", "plan.json", cwd=shop).status == 0
    replayed = json.loads(goalwright("replay", "last", "--strict", "--json", cwd=shop).out)
    assert (replayed["answer"], replayed["drift"]) == ('{"words": 6}', [])


def test_a_batch_of_such_plans_needs_no_model_and_reads_a_plan_as_it_was_checked(
    shop: Path, goalwright: Goalwright
) -> None:
    lines = [{"goal": "Count", "plan": {"tasks": [CALL]}}, {"goal": "Count", "plan": {"plan": {"tasks": [CALL]}}}]
    (shop / "goals.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"goal": "Think"}', encoding="utf-8")
    arguments = ["batch", "goals.jsonl", "--json", "--trust", "-o"]
    ran = goalwright(*arguments, "out.jsonl", "--limit", "2", cwd=shop)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["usage"]["calls"] == 0
    found = [json.loads(line) for line in (shop / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["answer"] for row in found] == ['{"words": 6}', '{"words": 6}']
    assert goalwright(*arguments, "all.jsonl", cwd=shop).status == 4, "the third goal does ask one"


@pytest.mark.parametrize("command", [("resume", "last"), ("rerun", "last", "--from", "{task}")])
def test_a_run_that_failed_for_want_of_trust_is_continued_with_it(
    shop: Path, goalwright: Goalwright, command: tuple[str, ...]
) -> None:
    (shop / "plan.json").write_text(json.dumps({"goal": "Count", "tasks": [CALL]}), encoding="utf-8")
    assert goalwright("run", "--plan", "plan.json", cwd=shop).status == 1
    again = [part.format(task=CALL["id"]) for part in command]
    refused = goalwright(*again, "--json", cwd=shop)
    assert refused.status == 1
    assert "not trusted yet" in refused.err
    ran = goalwright(*again, "--json", "--trust", cwd=shop)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["answer"] == '{"words": 6}'


@pytest.mark.parametrize("command", [("resume", "last"), ("rerun", "last", "--from", "count")])
@pytest.mark.parametrize("asks", [False, True])
def test_a_tool_that_is_renamed_fails_its_task_and_the_nearest_are_named(
    shop: Path, goalwright: Goalwright, command: tuple[str, ...], *, asks: bool
) -> None:
    plan = {"goal": "Count", "tasks": [CALL | {"needs_approval": asks}]}
    (shop / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert goalwright("run", "--plan", "plan.json", cwd=shop).status == (6 if asks else 1)
    manifest = shop / "skills" / "word" / "skill.yaml"
    manifest.write_text(MANIFEST.replace("name: word_count", "name: word_counts"), encoding="utf-8")
    ran = goalwright(*command, "--json", "--trust", cwd=shop)
    document = json.loads(ran.out)
    assert (ran.status, document["tasks"][0]["status"]) == (1, "failed"), ran.err
    assert "there is no tool 'word_count'; known tools: word_counts, " in document["tasks"][0]["error"]


def test_trust_counts_before_the_settings_are_read(shop: Path, goalwright: Goalwright) -> None:
    (shop / "goalwright.toml").write_text("unsafe_tools = false\n", encoding="utf-8")
    ran = goalwright("skills", "call", "word_count", '{"text": "one"}', "--trust", cwd=shop)
    assert (ran.status, "is ignored" in ran.err) == (0, False), ran.err


def test_a_tool_is_listed_and_runs_only_once_it_is_trusted(shop: Path, goalwright: Goalwright) -> None:
    rows = {row["name"]: row for row in json.loads(goalwright("skills", "list", "--json", cwd=shop).out)}
    assert (rows["word_count"]["kind"], rows["word_count"]["source"]) == ("executable", "project")
    arguments = json.dumps({"text": "one two"})
    refused = goalwright("skills", "call", "word_count", arguments, "--json", cwd=shop)
    assert refused.status == 1
    assert json.loads(refused.out)["error"]["code"] == "ACCESS_DENIED"
    ran = goalwright("skills", "call", "word_count", arguments, "--json", "--trust", cwd=shop)
    assert ran.status == 0, ran.err
    envelope = json.loads(ran.out)
    assert envelope["status"] == "success"
    assert json.loads(envelope["text"]) == {"words": 2}
    assert "counting" in ran.err
    assert goalwright("skills", "call", "word_count", arguments, cwd=shop).status == 0
    program = shop / "skills" / "word" / "main.py"
    program.write_text(COUNT + "# changed\n", encoding="utf-8")
    assert goalwright("skills", "call", "word_count", arguments, cwd=shop).status == 1


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("word_count", "{}"), 1, "text"),
        (("word_count", '{"text": "x", "tims": 1}'), 1, "tims"),
        (("word_count", "[1]"), 2, "JSON object"),
        (("word_count", "{"), 2, "not valid JSON"),
        (("word_cont", "{}"), 2, "word_count"),
    ],
)
def test_wrong_calls_are_explained(
    shop: Path, goalwright: Goalwright, arguments: tuple[str, ...], status: int, says: str
) -> None:
    ran = goalwright("skills", "call", *arguments, "--json", "--trust", cwd=shop)
    assert ran.status == status
    assert says in json.loads(ran.out)["error"]["message"]


def test_a_tool_that_cannot_be_called_says_why(
    shop: Path, goalwright: Goalwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_WORD_ENABLED", "false")
    assert "disabled by SKILL_WORD_ENABLED=false" in goalwright("skills", "call", "word_count", cwd=shop).err
    monkeypatch.delenv("SKILL_WORD_ENABLED")
    (shop / "skills" / "word" / "main.py").unlink()
    ran = goalwright("skills", "call", "word_count", cwd=shop)
    assert (ran.status, "'main.py' does not exist" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["excel", "excel_read"])
def test_installed_tools_are_off_by_the_settings_too(
    name: str, shop: Path, goalwright: Goalwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOALWRIGHT_SKILLS_OFF", name)
    called = goalwright("skills", "call", "excel_read", '{"path": "a.xlsx"}', cwd=shop)
    assert (called.status, "disabled by [skills] off" in called.err) == (2, True)
    listed = goalwright("skills", "list", "--json", cwd=shop)
    assert "no such skill" not in listed.err
    rows = {row["name"] for row in json.loads(listed.out)}
    assert ("excel_read" in rows, "excel_info" in rows) == (False, name == "excel_read")
    every = {
        row["name"]: row["state"] for row in json.loads(goalwright("skills", "list", "--all", "--json", cwd=shop).out)
    }
    assert every["excel_read"] == "disabled"


def test_what_an_installed_tool_prints_does_not_reach_the_document(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "loud-1.dist-info").mkdir()
    points = "[goalwright.tools]\nloud_say = loud:say\n"
    (tmp_path / "loud-1.dist-info" / "entry_points.txt").write_text(points, encoding="utf-8")
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    plan = {"tasks": [{"id": "say", "action_type": "tool", "name": "loud_say", "arguments": {"word": "hi"}}]}
    (workspace / "plan.json").write_text(json.dumps(plan), encoding="utf-8")

    def printed(*arguments: str) -> Any:
        command = [sys.executable, "-P", "-m", "goalwright", *arguments]
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        ran = subprocess.run(command, cwd=workspace, env=env, capture_output=True, text=True, check=True)
        assert "imported" in ran.stderr
        return json.loads(ran.stdout)

    assert printed("run", "--plan", "plan.json", "--json")["answer"] == "hi"
    assert printed("skills", "call", "loud_say", '{"word": "hi"}')["text"] == "hi"
    assert "loud_say" in [row["name"] for row in printed("skills", "list", "--json")]


def test_a_call_by_hand_prints_the_envelope_and_keeps_what_is_too_long(shop: Path, goalwright: Goalwright) -> None:
    program = COUNT.replace('{"words": len(text.split()) * request["arguments"]["times"]}', "text * 5_000")
    (shop / "skills" / "word" / "main.py").write_text(program, encoding="utf-8")
    ran = goalwright("skills", "call", "word_count", '{"text": "one "}', "--trust", cwd=shop)
    assert ran.status == 0, ran.err
    envelope = json.loads(ran.out)
    assert (envelope["status"], len(envelope["text"])) == ("partial", 8_000)
    kept = Path(envelope["data"]["artifact"])
    assert kept.read_text(encoding="utf-8") == "one " * 5_000
    assert kept.relative_to(shop).parts[:2] == (".agents", "runs")
    assert "/runs/" in (shop / ".agents" / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.parametrize("requirements", ["", "openpyxl\n", "./evil\n", "-r more.txt\n", "evil@file:///tmp/evil\n"])
def test_the_check_neither_builds_nor_runs_a_tool_that_is_not_trusted_yet(
    shop: Path, goalwright: Goalwright, tmp_path: Path, requirements: str
) -> None:
    folder = shop / "skills" / "word"
    plant = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    for place in (folder, shop):
        for name in ("main", "venv", "pip", "ensurepip", "click", "yaml"):
            (place / f"{name}.py").write_text(plant, encoding="utf-8")
    (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    ran = goalwright("skills", "check", "skills/word", "--json", "-c", "unsafe_tools=true", cwd=shop)
    (report,) = json.loads(ran.out)
    (problem,) = [problem for problem in report["problems"] if problem["rule"].startswith("run-")]
    assert (problem["rule"], problem["severity"]) == ("run-trust", "warning")
    assert "trust it, then check again" in problem["message"]
    refused = goalwright("skills", "call", "word_count", '{"text": "one"}', cwd=shop)
    assert json.loads(refused.out)["error"]["code"] == "ACCESS_DENIED"
    assert not (tmp_path / "ran").exists()
    assert "installing" not in ran.err + refused.err


def test_the_check_runs_a_tool_that_is_trusted(shop: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "check", "skills/word", "--json", "--trust", cwd=shop)
    assert ran.status == 1
    (report,) = json.loads(ran.out)
    assert "run-invalid" in {problem["rule"] for problem in report["problems"]}


def test_a_plans_tool_task_makes_no_model_call_and_a_task_may_call_it_too(
    shop: Path, serve: Serve, goalwright: Goalwright
) -> None:
    def say(call: Call) -> Answer:
        if call.tool_results:
            return Say(f"counted {call.tool_results[0]['text']} after {call.user.count('words')}")
        return Say(tool_calls=(("word_count", {"text": "a b c d"}),))

    server = serve(scripted(PLAN, task=say))
    ran = goalwright("run", "--json", "-v", "--model", "openai/test-model", "--trust", "Count", cwd=shop)
    assert ran.status == 0, ran.err
    assert f"word_count: registered from {shop / 'skills' / 'word' / 'skill.yaml'}" in ran.err
    assert "excel_read: registered from goalwright_skills.builtin.excel.sheet_tools:excel_read" in ran.err
    document = json.loads(ran.out)
    assert json.loads(document["tasks"][0]["output"]) == {"words": 6}
    assert '"words": 4' in document["answer"] or '"words":4' in document["answer"]
    assert len(server.asked("task")) == 2
    assert "<name>word_count</name>" in server.calls[0].system
    assert "<available_tools>" in server.calls[0].system


def test_an_untrusted_tool_fails_its_task_with_what_to_do(shop: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(scripted(PLAN))
    ran = goalwright("run", "--json", "--model", "openai/test-model", "Count", cwd=shop)
    assert ran.status == 1
    document = json.loads(ran.out)
    assert [task["status"] for task in document["tasks"]] == ["failed", "skipped"]
    assert "review and trust its program" in document["tasks"][0]["error"]
    assert "not trusted yet" in ran.err
    assert "--trust" in ran.err


def test_a_new_tool_works_and_passes_the_check(tmp_path: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "new", "word-count", "--json", cwd=tmp_path)
    assert ran.status == 0, ran.err
    ran = goalwright("skills", "check", "skills/word-count", "--json", "--trust", cwd=tmp_path)
    assert ran.status == 0, ran.out
    (report,) = json.loads(ran.out)
    assert report["ok"]
    assert goalwright("skills", "new", "word-count", cwd=tmp_path).status == 2


def test_the_check_names_rule_line_and_remedy(shop: Path, goalwright: Goalwright) -> None:
    bad = shop / "skills" / "bad"
    bad.mkdir()
    (bad / "SKILL.md").write_text("---\nname: other\ndescription: x\n---\n[gone](missing.md)\n", encoding="utf-8")
    ran = goalwright("skills", "check", "--json", cwd=shop)
    assert ran.status == 1
    reports = {Path(report["path"]).parent.name: report for report in json.loads(ran.out)}
    assert not reports["bad"]["ok"]
    for problem in reports["bad"]["problems"]:
        assert set(problem) == {"rule", "severity", "line", "message"}
    assert "give both the same name" in reports["bad"]["problems"][0]["message"]
    assert "error" in goalwright("skills", "check", "skills/bad", cwd=shop).out
    assert goalwright("skills", "check", "nowhere", cwd=shop).status == 2
    assert goalwright("skills", "check", "skills/word/main.py", cwd=shop).status == 2


def test_the_check_counts_its_findings_and_skips_installed_packages(shop: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "new", "word-count", cwd=shop)
    package = shop / "skills" / "word-count" / "node_modules" / "bad"
    package.mkdir(parents=True)
    (package / "SKILL.md").write_text("no frontmatter", encoding="utf-8")
    ran = goalwright("skills", "check", "skills/word-count", cwd=shop)
    assert ran.status == 0, ran.out
    assert "1 file checked, 0 errors, 1 warning" in ran.err
    ran = goalwright("skills", "check", "skills/word-count", "--trust", cwd=shop)
    assert "1 file checked, 0 errors, 0 warnings" in ran.err


def test_a_file_that_is_not_a_skills_is_refused(shop: Path, goalwright: Goalwright) -> None:
    (shop / "skills/bin.txt").write_text("x", encoding="utf-8")
    ran = goalwright("skills", "check", "skills/bin.txt", "--json", cwd=shop)
    assert ran.status == 2
    error = json.loads(ran.out)["error"]
    assert "bin.txt" in error["message"]
    assert "its SKILL.md or its skill.yaml" in error["hint"]


def test_the_shipped_skills_pass_the_check(goalwright: Goalwright) -> None:
    ran = goalwright(
        "skills", "check", str(Path(__file__).parents[2] / "skills" / "goalwright_skills" / "library"), "--json"
    )
    assert ran.status == 0, [report for report in json.loads(ran.out) if not report["ok"]]
