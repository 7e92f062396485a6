"""`goalwright recipes` and `goalwright run --recipe`, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import add_skill
from tests.nursery import Ran
from tests.openai_server import OpenAIServer, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
SKILL = "---\nname: weekly-reports\ndescription: Writes weekly reports of teams from notes.\n---\nBe brief.\n"
GOAL = "Write a weekly report for the sales team in 3 paragraphs"
USE = ("--recipe", "weekly-report", "team=design team", "paragraphs=5")
PLAN: dict[str, Any] = {
    "tasks": [
        {"id": "facts", "action_type": "llm", "instruction": "List what the sales team did this week."},
        {
            "id": "report",
            "action_type": "skill",
            "name": "weekly-reports",
            "instruction": "Write the report for the sales team in 3 paragraphs from <<facts.output>>.",
            "depends_on": ["facts"],
        },
    ]
}


@pytest.fixture
def team(workspace: Path) -> Path:
    add_skill(workspace, "weekly-reports", SKILL)
    return workspace


@pytest.fixture
def saved(team: Path, serve: Serve, goalwright: Goalwright) -> OpenAIServer:
    """A server, a run that it answered, and the recipe of its plan."""
    server = serve(scripted(PLAN))
    ran = goalwright("run", "--json", GOAL, cwd=team, env=MODEL)
    assert ran.status == 0, ran.err
    kept = goalwright("recipes", "save", "last", "--name", "weekly-report", cwd=team)
    assert kept.status == 0, kept.err
    return server


def test_save_finds_parameters_in_the_goal(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    shown = goalwright("recipes", "show", "weekly-report", "--json", cwd=team)
    document = json.loads(shown.out)
    assert document["goal"] == "Write a weekly report for the {team} in {paragraphs} paragraphs"
    assert [(one["name"], one["type"], one["default"]) for one in document["parameters"]] == [
        ("team", "text", "sales team"),
        ("paragraphs", "number", "3"),
    ]
    assert document["plan"]["tasks"][1]["instruction"] == (
        "Write the report for the {team} in {paragraphs} paragraphs from <<facts.output>>."
    )
    assert [skill["name"] for skill in document["skills"]] == ["weekly-reports"]
    rows = json.loads(goalwright("recipes", "list", "--json", cwd=team).out)
    assert [sorted(row) for row in rows] == [["goal", "name", "ok", "parameters", "reason", "run_id", "skills"]]
    assert (rows[0]["ok"], rows[0]["reason"], rows[0]["skills"]) == (True, None, ["weekly-reports"])
    assert rows[0]["run_id"] == document["from"] != ""
    assert goalwright("recipes", "check", cwd=team).out == "weekly-report: ok\n"
    again = goalwright("recipes", "save", "last", "--name", "weekly-report", cwd=team)
    assert (again.status, "--replace" in again.err) == (2, True)


def test_a_recipe_runs_without_a_planning_call(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    before = len(saved.asked("decomposer"))
    ran = goalwright("run", "--json", *USE, cwd=team, env=MODEL)
    document = json.loads(ran.out)
    assert (ran.status, document["status"], document["recipe"]) == (0, "done", "weekly-report"), ran.err
    assert document["goal"] == "Write a weekly report for the design team in 5 paragraphs"
    assert document["skills_used"] == ["weekly-reports"]
    assert document["warnings"] == []
    assert len(saved.asked("decomposer")) == before
    assert "List what the design team did this week." in saved.asked("task")[-2].user
    replayed = goalwright("replay", "last", "--strict", "--json", cwd=team)
    assert (replayed.status, json.loads(replayed.out)["drift"]) == (0, [])
    assert "recipe weekly-report" in goalwright("trace", "show", cwd=team).out


def test_goal_files_name_recipes(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    before = len(saved.asked("decomposer"))
    csv = "id,recipe,goal,team,paragraphs\na,weekly-report,,design team,5\nb,weekly-report,,,\nc,,Say hello,,\n"
    (team / "goals.csv").write_text(csv, encoding="utf-8")
    ran = goalwright("batch", "goals.csv", "-o", "out.jsonl", "--json", cwd=team, env=MODEL)
    assert (ran.status, json.loads(ran.out)["recipes"]) == (0, 2), ran.err
    rows = {row["id"]: row for row in map(json.loads, (team / "out.jsonl").read_text(encoding="utf-8").splitlines())}
    assert rows["a"]["goal"] == "Write a weekly report for the design team in 5 paragraphs"
    assert rows["b"]["goal"] == GOAL
    assert [rows[goal]["recipe"] for goal in "abc"] == ["weekly-report", "weekly-report", None]
    assert len(saved.asked("decomposer")) == before + 1
    wrong = [{"recipe": "weekly-report", "teem": "x"}, {"recipe": "monthly"}, {"recipe": "weekly-report", "plan": PLAN}]
    (team / "wrong.jsonl").write_text("\n".join(map(json.dumps, wrong)), encoding="utf-8")
    ran = goalwright("batch", "wrong.jsonl", "-o", "wrong-out.jsonl", cwd=team, env=MODEL)
    assert ran.status == 2
    for fault in ("line 1: ", "did you mean 'team'", "there is no recipe 'monthly'", "cannot be used together"):
        assert fault in ran.err


@pytest.mark.changes_skills
def test_a_changed_skill_causes_a_warning(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    (team / "skills" / "weekly-reports" / "SKILL.md").write_text(SKILL + "Name the team first.\n", encoding="utf-8")
    document = json.loads(goalwright("run", "--json", *USE, cwd=team, env=MODEL).out)
    assert (document["recipe"], document["status"]) == ("weekly-report", "done")
    assert any("another version of weekly-reports" in text for text in document["warnings"])
    assert len(saved.asked("decomposer")) == 1
    checked = goalwright("recipes", "check", "--json", cwd=team)
    assert (checked.status, json.loads(checked.out)[0]["ok"]) == (0, True)
    assert json.loads(checked.out)[0]["warnings"]


@pytest.mark.changes_skills
@pytest.mark.parametrize("renamed", [False, True])
def test_the_goal_is_planned_if_a_skill_is_gone(
    team: Path, saved: OpenAIServer, goalwright: Goalwright, *, renamed: bool
) -> None:
    (team / "skills" / "weekly-reports" / "SKILL.md").unlink()
    if renamed:
        add_skill(team, "weekly-report-writing", SKILL.replace("weekly-reports", "weekly-report-writing"))
    saved.script = scripted({"tasks": [{"id": "all", "action_type": "llm", "instruction": "Write all of it."}]})
    ran = goalwright("run", "--json", "--recipe", "weekly-report", "team=design team", cwd=team, env=MODEL)
    document = json.loads(ran.out)
    assert (document["status"], document["recipe"]) == ("done", None), ran.err
    assert any("'weekly-reports' is gone" in text for text in document["warnings"])
    assert len(saved.asked("decomposer")) >= 2
    checked = goalwright("recipes", "check", "--json", cwd=team)
    row = json.loads(checked.out)[0]
    assert (checked.status, row["ok"]) == (1, False)
    assert ("weekly-report-writing" in row["reason"]) is renamed


def test_wrong_values_and_names_are_refused(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    calls = len(saved.calls)
    for arguments, told in (
        (("--recipe", "weekly-reprot"), "weekly-report"),
        (("--recipe", "../secret"), "not a valid name for a recipe"),
        (("--recipe", "weekly-report", "teem=x"), "did you mean 'team'"),
        (("--recipe", "weekly-report", "paragraphs=many"), "must be a number"),
        (("--recipe", "weekly-report", "team=<<facts.output>>"), "<<"),
        (("--recipe", "weekly-report", "Write something"), "goal of its own"),
        (("--recipe", "weekly-report", "--plan", "p.yaml"), "cannot be used together"),
        (("Write", "a", "poem"), "unexpected extra arguments (a poem)"),
    ):
        ran = goalwright("run", "--json", *arguments, cwd=team, env=MODEL)
        error = json.loads(ran.out)["error"]
        assert (ran.status, told in error["message"], bool(error["hint"])) == (2, True, True), (arguments, error)
    assert len(saved.calls) == calls


def test_a_broken_recipe_is_reported(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    file = team / "recipes" / "weekly-report.yaml"
    (team / "recipes" / "pancakes.yaml").write_text("name: Pancakes\nserves: 4\n", encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace("goal: Write", "goal: Write: "), encoding="utf-8")
    for names in ((), ("weekly-report",)):
        checked = goalwright("recipes", "check", "--json", *names, cwd=team)
        (row,) = json.loads(checked.out)
        assert (checked.status, row["name"], row["ok"], "line 1: mapping" in row["reason"]) == (
            1,
            "weekly-report",
            False,
            True,
        ), row
    ran = goalwright("run", "--json", "--recipe", "weekly-report", cwd=team, env=MODEL)
    error = json.loads(ran.out)["error"]
    assert (ran.status, "line 1: mapping" in error["message"], str(file) in error["hint"]) == (2, True, True), error
    assert json.loads(goalwright("recipes", "list", "--json", cwd=team).out) == []


def test_default_files_are_checked(team: Path, saved: OpenAIServer, goalwright: Goalwright) -> None:
    file = team / "recipes" / "weekly-report.yaml"
    text = file.read_text(encoding="utf-8")
    for default, status, told in ((".env", 1, "hidden from tools"), ("none.md", 0, "does not exist")):
        row = f"parameters:\n- {{name: data, type: file, default: {default}}}\n"
        file.write_text(text.replace("parameters:\n", row), encoding="utf-8")
        checked = goalwright("recipes", "check", cwd=team)
        assert (checked.status, f"the file of 'data', {default}, " in checked.out, told in checked.out) == (
            status,
            True,
            True,
        ), checked.out
        shown = goalwright("recipes", "show", "weekly-report", cwd=team)
        assert (shown.status, told in shown.err, "planned" in shown.err) == (0, True, False), shown.err


def test_named_parameters_must_occur_in_the_goal_or_plan(
    team: Path, saved: OpenAIServer, goalwright: Goalwright
) -> None:
    named = ("recipes", "save", "last", "--name", "by-period", "--json")
    kept = goalwright(*named, "--parameter", "period=weekly", cwd=team)
    document = json.loads(kept.out)
    assert document["goal"] == "Write a {period} report for the {team} in {paragraphs} paragraphs"
    nowhere = goalwright(*named, "--parameter", "city=Rome", cwd=team)
    assert (nowhere.status, "'Rome' is neither" in nowhere.out) == (2, True)
    unnamed = goalwright(*named, "--parameter", "weekly", cwd=team)
    assert json.loads(unnamed.out)["error"]["hint"] == 'such as --parameter team="sales team"'
    assert goalwright("recipes", "save", "20990101", "--name", "x", cwd=team).status == 2
    assert goalwright("recipes", "show", "none", cwd=team).status == 2
