"""Runs with recipes: their record, resume, rerun and replay, trust, and skills that changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.recipes.recipe import RecipeValueError
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.settings import Settings
from goalwright_planner.events import RunStarted, TaskFinished
from goalwright_planner.model import Reply, Request
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

GOAL = "Write a weekly report for the sales team from notes.md"
LIKE = "Write a weekly report for the design team from log.md"
DESIGN = {"team": "design team", "file": "log.md"}
PLAN: dict[str, Any] = {
    "tasks": [
        {"id": "facts", "action_type": "llm", "instruction": "Read notes.md for what the sales team did."},
        {"id": "report", "action_type": "llm", "instruction": "Report on the sales team.", "depends_on": ["facts"]},
    ]
}
LOOK: dict[str, Any] = {"id": "look", "action_type": "tool", "name": "ReadFile", "arguments": {"path": "notes.md"}}


def planning(plan: dict[str, Any]) -> ScriptedModel:
    def script(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps(plan))
        return Reply(f"did {request.messages[-1].content.rpartition('<task>')[2].partition('</task>')[0].strip()}")

    return ScriptedModel(script)


def opened(workspace: Path, model: ScriptedModel, **settings: Any) -> Goalwright:
    return Goalwright(workspace, Settings(model="m", max_replans=0, **settings), open_model=lambda _: model)


def plans(model: ScriptedModel) -> int:
    return sum(request.role == "decomposer" for request in model.asked)


@pytest.fixture
def work(workspace: Path) -> Path:
    for name in ("notes.md", "log.md"):
        (workspace / name).write_text(f"in {name}", encoding="utf-8")
    return workspace


async def saved(work: Path, plan: dict[str, Any] = PLAN, goal: Goal | str = GOAL) -> None:
    async with opened(work, planning(plan)) as goalwright:
        result = await goalwright.run(goal)
        assert result.status == "done", result.error
        goalwright.save_recipe(result.run_id, "weekly")


async def test_a_run_records_its_recipe_and_values(work: Path) -> None:
    await saved(work)
    model, heard = planning(PLAN), Recorder()
    async with opened(work, model) as goalwright:
        result = await goalwright.run(goalwright.from_recipe("weekly", DESIGN), record=heard)
    assert (result.status, result.recipe, plans(model)) == ("done", "weekly", 0)
    (started,) = heard.of(RunStarted)
    assert started.recipe is not None
    assert started.recipe.values == DESIGN
    assert started.goal == LIKE
    assert "Read log.md for what the design team did." in model.asked[0].messages[-1].content


async def test_a_goal_like_a_recipe_is_planned(work: Path) -> None:
    await saved(work)
    model = planning(PLAN)
    async with opened(work, model) as goalwright:
        result = await goalwright.run(LIKE)
    assert (result.status, result.recipe, plans(model) > 0) == ("done", None, True)


async def test_resume_and_rerun_need_no_recipe_file(work: Path) -> None:
    await saved(work)
    model, stop = planning(PLAN), Stop()
    async with opened(work, model) as goalwright:
        first = await goalwright.run(
            goalwright.from_recipe("weekly", DESIGN),
            record=lambda event: stop.set() if isinstance(event, TaskFinished) else None,
            stop=stop,
        )
        (work / "recipes" / "weekly.yaml").unlink()
        result = await goalwright.resume(first.run_id)
    assert (first.status, result.status, result.recipe, plans(model)) == ("interrupted", "done", "weekly", 0)
    async with opened(work, model) as goalwright:
        again = await goalwright.rerun(result.run_id, goalwright.plan_rerun(result.run_id, ["report"], {}))
    assert (again.status, again.recipe, plans(model)) == ("done", "weekly", 0)


async def test_a_given_file_is_a_parameter(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"tasks": [{"id": "all", "action_type": "llm", "instruction": "Turn notes.md into a weekly report."}]}
    await saved(work, plan, Goal("Turn my meeting notes into a weekly report", files=(work / "notes.md",)))
    async with opened(work, planning(PLAN)) as goalwright:
        (row,) = goalwright.recipes.rows()
        assert row.file.recipe is not None
        parameters = [(row.name, row.type, row.default) for row in row.file.recipe.parameters]
        assert parameters == [("notes", "file", "notes.md")]
        monkeypatch.chdir(work)
        goal = goalwright.from_recipe("weekly", {"notes": "log.md"})
        assert goal.files == (work / "log.md",)
        assert goal.plan is not None
        assert goal.plan.tasks[0].instruction == "Turn log.md into a weekly report."


def write_recipe_with_file(work: Path, default: str) -> None:
    (work / "recipes").mkdir()
    row = {"name": "data", "type": "file", "default": default}
    document = {"goal": "Write all about it", "parameters": [row], "plan": PLAN}
    (work / "recipes" / "sly.yaml").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "default", [".env", "../outside.txt", "/etc/passwd", "/etc/none", ".agents/journal.sqlite", "a\0b"]
)
async def test_a_recipe_cannot_name_hidden_or_outside_files(work: Path, default: str) -> None:
    (work / ".env").write_text("SECRET=1", encoding="utf-8")
    (work.parent / "outside.txt").write_text("mine", encoding="utf-8")
    write_recipe_with_file(work, default)
    async with opened(work, planning(PLAN)) as goalwright:
        with pytest.raises(RecipeValueError, match="is outside the workspace or hidden from tools"):
            goalwright.from_recipe("sly")
        (row,) = goalwright.recipes.checked()
    assert (row.ok, "is outside the workspace or hidden from tools" in row.reason) == (False, True)


@pytest.mark.parametrize(("default", "here"), [("missing.md", False), ("recipes", False), ("notes.md", True)])
async def test_a_missing_default_file_causes_a_warning(work: Path, default: str, *, here: bool) -> None:
    write_recipe_with_file(work, default)
    async with opened(work, planning(PLAN)) as goalwright:
        (row,) = goalwright.recipes.checked()
        assert row.check is not None
        told = () if here else (f"the file of 'data', {default}, does not exist",)
        assert (row.ok, row.reason, row.check.warnings) == (True, "", told)
        if not here:
            with pytest.raises(RecipeValueError, match="does not exist"):
                goalwright.from_recipe("sly")
        assert goalwright.from_recipe("sly", {"data": str(work / "notes.md")}).plan is not None


async def test_a_recipe_with_tool_calls_needs_trust(work: Path) -> None:
    plan = {"tasks": [LOOK, {**PLAN["tasks"][1], "depends_on": ["look"]}]}
    await saved(work, plan)
    model = planning(PLAN)
    file = work / "recipes" / "weekly.yaml"
    async with opened(work, model) as goalwright:
        values = {"team": "design team"}
        saved_recipe = await goalwright.run(goalwright.from_recipe("weekly", values))
        assert saved_recipe.recipe == "weekly", "a saved recipe is trusted"
        file.write_text(file.read_text(encoding="utf-8").replace("Report on", "Report at length on"), encoding="utf-8")
        changed = await goalwright.run(goalwright.from_recipe("weekly", values))
        assert (changed.recipe, plans(model) > 0) == (None, True)
        assert any("calls ReadFile, and you have not trusted it" in text for text in changed.warnings)
        for recipe_file in goalwright.recipes.untrusted():
            goalwright.recipes.trust(recipe_file)
        assert (await goalwright.run(goalwright.from_recipe("weekly", values))).recipe == "weekly"


@pytest.mark.changes_skills
async def test_a_certain_skill_that_the_recipe_does_not_use_causes_a_warning(work: Path) -> None:
    await saved(work)
    description = "Writes weekly reports of the design team from log files."
    add_skill(work, "design-team-reports", f"---\nname: design-team-reports\ndescription: {description}\n---\nx\n")
    model = planning(PLAN)
    async with opened(work, model) as goalwright:
        first = (await goalwright.preview(Goal(LIKE))).selections[0]
        assert (first.name, first.certain) == ("design-team-reports", True)
        result = await goalwright.run(goalwright.from_recipe("weekly", DESIGN))
    assert (result.recipe, plans(model)) == ("weekly", 0)
    assert any("design-team-reports" in text for text in result.warnings)


@pytest.mark.changes_skills
async def test_a_recipe_without_a_required_skill_is_not_used(work: Path) -> None:
    await saved(work)
    add_skill(work, "house-style", "---\nname: house-style\ndescription: Greets readers warmly.\n---\nx\n")
    styled = {"id": "style", "action_type": "skill", "name": "house-style", "depends_on": ["report"]}
    model = planning({"tasks": [*PLAN["tasks"], styled]})
    async with opened(work, model, skills_require=("house-style",)) as goalwright:
        named = await goalwright.run(goalwright.from_recipe("weekly", DESIGN))
        (row,) = goalwright.recipes.rows()
    assert (named.status, named.recipe, plans(model) > 0) == ("done", None, True)
    assert any("does not use 'house-style', which every plan must" in text for text in named.warnings)
    assert (row.ok, "house-style" in row.reason) == (False, True)


@pytest.mark.changes_skills
async def test_the_reason_names_gone_disabled_and_broken_skills(work: Path) -> None:
    names = ("house-style", "torn-notes", "old-notes")
    added = [add_skill(work, name, f"---\nname: {name}\ndescription: Greets warmly.\n---\nx\n") for name in names]
    tasks = [{"id": name[:3], "action_type": "skill", "name": name, "instruction": "Do it."} for name in names]
    await saved(work, {"tasks": [*PLAN["tasks"], *tasks]})
    (added[1] / "SKILL.md").write_text("---\nname: [\n---\n", encoding="utf-8")
    (added[2] / "SKILL.md").unlink()
    async with opened(work, planning(PLAN), skills_off=("house-style",)) as goalwright:
        (row,) = goalwright.recipes.rows()
    gone, off, broken = row.reason.split("; ", 2)
    assert gone.startswith("the skill 'old-notes' is gone")
    assert off == "the skill 'house-style' is disabled by [skills] off"
    assert broken.startswith("the skill 'torn-notes' is broken: ")


TONE = """goal: Write a weekly report for the {team}
parameters:
- {name: team, default: sales team}
- {name: tone, type: choice, choices: [warm, dry]}
plan:
  tasks:
  - {id: report, action_type: llm, instruction: 'Report on the {team} in a {tone} tone.'}
"""


async def test_a_parameter_without_a_default_is_required(work: Path) -> None:
    (work / "recipes").mkdir()
    (work / "recipes" / "tone.yaml").write_text(TONE, encoding="utf-8")
    model = planning(PLAN)
    async with opened(work, model) as goalwright:
        (row,) = goalwright.recipes.rows()
        assert (row.ok, row.reason) == (True, "")
        result = await goalwright.run(goalwright.from_recipe("tone", {"team": "design team", "tone": "dry"}))
        assert (result.recipe, plans(model)) == ("tone", 0)
        with pytest.raises(RecipeValueError, match="tone is missing, and has no default"):
            goalwright.from_recipe("tone")
