"""Commands in this process: what they ask, print and keep quiet about."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.journal import trace_file
from tests.conftest import add_skill
from tests.fakes import ScriptedModel
from tests.goalwright import recorded
from tests.goalwright.interfaces.cli.test_main import ended
from tests.goalwright.traces.test_timeline import BEGUN, RESUMED, event, rows

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """
goal: Greet the team
tasks:
  - {id: greet, action_type: llm, instruction: Say hello.}
"""


@pytest.fixture(autouse=True)
def in_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_unknown_skill_is_reported_before_asking_for_confirmation(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "delete", "nope") == 2
    err = capsys.readouterr().err
    assert "there is no skill 'nope'" in err
    assert "nothing was deleted" not in err


def test_delete_removes_what_new_created(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "new", "word-count", "-q") == 0
    assert capsys.readouterr().err == ""
    assert ended("skills", "delete", "word-count") == 2
    assert "confirm with --yes" in capsys.readouterr().err
    assert ended("skills", "delete", "word-count", "--yes") == 0
    assert not (tmp_path / "skills" / "word-count").exists()


def test_check_reports_needs_that_the_settings_do_not_meet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "---\nname: reading-prices\ndescription: Reads the prices on a page. Use when asked for prices.\n"
    add_skill(tmp_path, "reading-prices", f"{text}allowed-tools: Read WebFetch\n---\nRead the page.\n")
    shown = ("skills", "check"), ("skills", "show", "reading-prices"), ("skills", "list")
    off = [(ended(*command), "".join(capsys.readouterr())) for command in shown]
    assert [status for status, _ in off] == [0, 0, 0]
    assert all("needs web access" in said for _, said in off)
    assert "allow it with the setting allow_web" in off[0][1]
    assert "a run has it with --allow-web HOST" in off[1][1]
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "goalwright").mkdir(parents=True)
    (tmp_path / "config" / "goalwright" / "config.toml").write_text('allow_web = ["example.org"]\n', encoding="utf-8")
    on = [(ended(*command), "".join(capsys.readouterr())) for command in shown]
    assert "0 warnings" in on[0][1]
    assert "needs web access: available" in on[1][1]
    assert "needs web access" not in on[2][1]


def test_an_unknown_local_model_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (("models", "path", "nope"), ("run", "--model", "local/nope", "Say hello")):
        assert ended(*command) == 4
        err = capsys.readouterr().err
        assert "unknown local model 'nope'; models are: " in err
        assert "qwen2.5-coder-0.5b" in err


def test_a_dry_run_of_a_plan_shows_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    flags = ("run", "--plan", "plan.yaml", "--dry-run", "--model", "openai/x")
    assert ended(*flags) == 0
    out = capsys.readouterr().out
    assert "goal: Greet the team" in out
    assert "instruction: Say hello." in out
    assert "Estimate: 1 task; calls: 1 or more" in out
    assert "available_skills" not in out
    assert ended(*flags, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["plan"]["tasks"][0]["id"] == "greet"
    assert (document["prompt"], document["selected"]) == ([], [])


def test_a_dry_run_of_a_plan_names_its_skills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = '{"id": "a", "action_type": "skill", "name": "release-notes", "instruction": "Write them."}'
    (tmp_path / "plan.json").write_text(f'{{"goal": "Greet the team", "tasks": [{task}]}}', encoding="utf-8")
    assert ended("run", "--plan", "plan.json", "--dry-run", "--json", "--model", "openai/x") == 0
    assert json.loads(capsys.readouterr().out)["selected"] == [
        {"name": "release-notes", "score": 1.0, "reason": "the plan names it"}
    ]


def test_export_to_a_file_reports_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.prepare(tmp_path)

    async def run() -> str:
        async with recorded.goalwright(tmp_path, ScriptedModel(recorded.answering)) as goalwright:
            return (await goalwright.run(recorded.GOAL)).run_id

    run_id = asyncio.run(run())
    assert ended("trace", "export", "-o", "run.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"output": str(tmp_path / "run.jsonl"), "runs": [run_id]}
    assert ended("trace", "export", "-o", "run.jsonl", "-q") == 0
    assert ended("trace", "export", "-o", "run.HTML", "-q") == 0
    assert (tmp_path / "run.HTML").read_text(encoding="utf-8").startswith("<!doctype html>"), "the ending decides"
    assert capsys.readouterr() == ("", "")
    lines = (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["run_id"] for line in lines} == {run_id}
    assert ended("replay", "last", "--strict", "-q") == 0
    assert capsys.readouterr() == (f"{run_id}: done, no differences\n", "")


@pytest.mark.parametrize("command", ["run", "plan"])
def test_unwritable_output_file_is_reported_before_a_model_call(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for target, message in ((tmp_path, "is a folder"), (tmp_path / "nowhere" / "a.md", "nowhere does not exist")):
        assert ended(command, "--model", "openai/x", "-o", str(target), "Say hello") == 2
        assert message in capsys.readouterr().err


def test_batch_with_an_unusable_model_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "goals.txt").write_text("Say hello\nSay goodbye\n", encoding="utf-8")
    assert ended("batch", "goals.txt", "-o", "out.jsonl", "--model", "nonsense", "--json") == 4
    assert json.loads(capsys.readouterr().out)["error"]["message"] == "no provider is known for the model 'nonsense'"
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("skills", "select", "-q", "Bake a sourdough loaf"),
        ("skills", "new", "notes", "--description", "Take notes.", "-q"),
        ("init", "--skill", "minutes", "-q"),
        ("skills", "check", "-q"),
    ],
)
def test_quiet_leaves_only_the_result(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    ended(*command)
    assert capsys.readouterr().err == ""


def test_prune_keeps_a_run_in_progress_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.prepare(tmp_path)

    async def prune() -> tuple[int, str]:
        async with recorded.goalwright(tmp_path, ScriptedModel(recorded.answering)) as runtime:
            run_id = (await runtime.run(recorded.GOAL)).run_id
            runtime.journal.claim(run_id)
            return await asyncio.to_thread(ended, "trace", "prune", run_id), run_id

    status, run_id = asyncio.run(prune())
    captured = capsys.readouterr()
    assert (status, captured.out) == (0, "0 runs deleted\n")
    assert f"run {run_id} is in use by another process" in captured.err
    for days in ("nan", "12h", "d"):
        assert ended("trace", "prune", "--older-than", days) == 2
        assert f"'{days}' is not a number of days; for example: 30 or 30d" in capsys.readouterr().err


def test_resuming_a_finished_run_reports_that_it_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.prepare(tmp_path)

    async def run() -> str:
        async with recorded.goalwright(tmp_path, ScriptedModel(recorded.answering)) as runtime:
            return (await runtime.run(recorded.GOAL)).run_id

    run_id = asyncio.run(run())
    assert ended("resume") == 0
    captured = capsys.readouterr()
    assert captured.out == "the answer\n"
    assert f"Run {run_id} is already done; there was nothing to resume." in captured.err
    assert ended("resume", "-q") == 0
    assert capsys.readouterr().err == ""


def test_playback_shows_elapsed_time_and_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{line}\n" for line in trace_file.lines(rows(*BEGUN, *RESUMED))), encoding="utf-8")
    assert ended("replay", str(file)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:] == ["    6.0 s  b: started", "    9.0 s  b: done after 3.0 s", "   10.0 s  done", "o"]
    assert "    5.0 s  resumed" in lines


def test_a_task_shown_in_full_has_rounded_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = (*BEGUN[:4], event("10:00:05", "task_finished", task="a", status="done", seconds=3.000123456789012))
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{line}\n" for line in trace_file.lines(rows(*long))), encoding="utf-8")
    assert ended("trace", "show", str(file), "--task", "a") == 0
    assert "seconds: 3.0\n" in capsys.readouterr().out


def test_dry_rerun_matches_the_rerun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = recorded.prepare(tmp_path)

    async def run() -> None:
        async with recorded.goalwright(tmp_path, ScriptedModel(recorded.answering)) as runtime:
            await runtime.run(recorded.GOAL)

    asyncio.run(run())
    flags = ("rerun", "last", "--from", "survey", "--dry-run")
    assert ended(*flags, "--use", f"{recorded.SKILL}={draft}") == 0
    assert "executed  survey" in capsys.readouterr().out
    assert ended(*flags, "--use", f"nope={draft}") == 2
    assert "there is no skill 'nope'" in capsys.readouterr().err


def test_invalid_prompt_budget_causes_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLS_PROMPT_CHAR_BUDGET", "abc")
    assert ended("run", "--dry-run", "--model", "openai/x", "--workspace", str(tmp_path), "hello") == 0
    captured = capsys.readouterr()
    assert captured.err.count("warning: SKILLS_PROMPT_CHAR_BUDGET=abc is ignored") == 1
    assert "abc" not in captured.out


def test_a_full_listing_gives_each_state_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (".agents/skills", "skills"):
        (tmp_path / folder / "greeting").mkdir(parents=True)
        text = "---\nname: greeting\ndescription: Greet people.\n---\nHello.\n"
        (tmp_path / folder / "greeting" / "SKILL.md").write_text(text)
    assert ended("skills", "list", "--all") == 0
    out = capsys.readouterr().out
    assert f"[shadowed by {tmp_path}/.agents/skills/greeting/SKILL.md]" in out


GO_TOOL = """
name: word_count
description: Count the words of a text, up to a million of them.
runtime: go
entry: main.go
parameters:
  - {name: text, type: string, required: true, description: "The text, at most a million words. Example: one two"}
docs:
  examples: [{title: Count, arguments: {text: one two}}]
"""


def test_check_reports_builds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text('#!/bin/sh\n[ "$1" = version ] && echo go version go1.22 && exit 0\nexit 1\n')
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(go.parent), prepend=os.pathsep)
    folder = tmp_path / "skills" / "word"
    folder.mkdir(parents=True)
    for name, text in {"skill.yaml": GO_TOOL, "main.go": "package main\n", "go.mod": "module word\n"}.items():
        (folder / name).write_text(text)
    assert ended("skills", "check", "--trust", "--json") == 1
    captured = capsys.readouterr()
    assert "word_count: building its Go program …" in captured.err
    assert json.loads(captured.out)[0]["ok"] is False
    assert ended("skills", "check", "-q") == 1
    assert capsys.readouterr().err == ""
