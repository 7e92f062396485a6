"""What a run does with a recipe: what it records, what a resume, a rerun and a replay make of it."""

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


async def test_a_run_says_by_which_recipe_and_with_which_values_it_was_planned(work: Path) -> None:
    await saved(work)
    model, heard = planning(PLAN), Recorder()
    async with opened(work, model, recipes="auto") as goalwright:
        result = await goalwright.run(LIKE, record=heard)
    assert (result.status, result.recipe, plans(model)) == ("done", "weekly", 0)
    (started,) = heard.of(RunStarted)
    assert started.recipe is not None
    assert (started.recipe.way, started.recipe.values) == ("auto", {"team": "design team", "file": "log.md"})
    assert "words of the goal" in started.recipe.reason
    assert "Read log.md for what the design team did." in model.asked[0].messages[-1].content


async def test_a_resumed_run_takes_its_recipe_from_the_record(work: Path) -> None:
    await saved(work)
    model, stop = planning(PLAN), Stop()
    async with opened(work, model, recipes="auto") as goalwright:
        first = await goalwright.run(
            LIKE, record=lambda event: stop.set() if isinstance(event, TaskFinished) else None, stop=stop
        )
        (work / "recipes" / "weekly.yaml").unlink()
        result = await goalwright.resume(first.run_id)
    assert (first.status, result.status, result.recipe, plans(model)) == ("interrupted", "done", "weekly", 0)
    async with opened(work, model) as goalwright:
        again = await goalwright.rerun(result.run_id, goalwright.plan_rerun(result.run_id, ["report"], {}))
    assert (again.status, again.recipe, plans(model)) == ("done", "weekly", 0)


async def test_a_file_given_with_the_goal_is_a_parameter(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"tasks": [{"id": "all", "action_type": "llm", "instruction": "Turn notes.md into a weekly report."}]}
    await saved(work, plan, Goal("Turn my meeting notes into a weekly report", files=(work / "notes.md",)))
    async with opened(work, planning(PLAN)) as goalwright:
        (row,) = goalwright.recipes.rows()
        assert row.file.recipe is not None
        assert [(one.name, one.type, one.default) for one in row.file.recipe.parameters] == [
            ("notes", "file", "notes.md")
        ]
        monkeypatch.chdir(work)
        goal = goalwright.from_recipe("weekly", {"notes": "log.md"})
        assert goal.files == (work / "log.md",)
        assert goal.plan is not None
        assert goal.plan.tasks[0].instruction == "Turn log.md into a weekly report."
        given = Goal("Turn my meeting notes into a weekly report", files=(work / "log.md",))
        assert goalwright.with_recipe(given).plan == goal.plan
        assert goalwright.with_recipe(Goal("Turn my meeting notes into a weekly report")).plan is None


def naming(work: Path, default: str) -> None:
    """A recipe that names a file by itself."""
    (work / "recipes").mkdir()
    row = {"name": "data", "type": "file", "default": default}
    document = {"goal": "Write all about it", "parameters": [row], "plan": PLAN}
    (work / "recipes" / "sly.yaml").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "default", [".env", "../outside.txt", "/etc/passwd", "/etc/none", ".agents/journal.sqlite", "a\0b"]
)
async def test_a_recipe_cannot_give_a_file_that_tools_may_not_see(work: Path, default: str) -> None:
    (work / ".env").write_text("SECRET=1", encoding="utf-8")
    (work.parent / "outside.txt").write_text("mine", encoding="utf-8")
    naming(work, default)
    async with opened(work, planning(PLAN)) as goalwright:
        with pytest.raises(RecipeValueError, match="not one that a recipe may name"):
            goalwright.from_recipe("sly")
        (row,) = goalwright.recipes.checked()
    assert (row.ok, "not one that a recipe may name" in row.reason) == (False, True)


@pytest.mark.parametrize(("default", "here"), [("missing.md", False), ("recipes", False), ("notes.md", True)])
async def test_a_file_that_a_recipe_names_and_that_is_missing_is_warned_of(
    work: Path, default: str, *, here: bool
) -> None:
    naming(work, default)
    async with opened(work, planning(PLAN)) as goalwright:
        (row,) = goalwright.recipes.checked()
        assert row.check is not None
        told = () if here else (f"the file of 'data', {default}, is not here",)
        assert (row.ok, row.reason, row.check.warnings) == (True, "", told)
        if not here:
            with pytest.raises(RecipeValueError, match="is not here"):
                goalwright.from_recipe("sly")
        assert goalwright.from_recipe("sly", {"data": str(work / "notes.md")}).plan is not None


async def test_a_plan_that_calls_tools_by_itself_is_used_only_if_it_is_trusted(work: Path) -> None:
    plan = {"tasks": [LOOK, {**PLAN["tasks"][1], "depends_on": ["look"]}]}
    await saved(work, plan)
    model = planning(PLAN)
    file = work / "recipes" / "weekly.yaml"
    async with opened(work, model, recipes="auto") as goalwright:
        assert (await goalwright.run(LIKE)).recipe == "weekly", "who saves a recipe trusts it"
        file.write_text(file.read_text(encoding="utf-8").replace("Report on", "Report at length on"), encoding="utf-8")
        changed = await goalwright.run(LIKE)
        assert (changed.recipe, plans(model) > 0) == (None, True)
        assert any("calls ReadFile, and you have not trusted it" in text for text in changed.warnings)
        for found in goalwright.recipes.untrusted():
            goalwright.recipes.trust(found)
        assert (await goalwright.run(LIKE)).recipe == "weekly"


@pytest.mark.changes_skills
async def test_a_goal_that_needs_another_skill_is_planned(work: Path) -> None:
    await saved(work)
    described = "Writes weekly reports of the design team from log files."
    add_skill(work, "design-team-reports", f"---\nname: design-team-reports\ndescription: {described}\n---\nx\n")
    model = planning({**PLAN, "unused": {"design-team-reports": "it is not needed"}})
    async with opened(work, model, recipes="auto") as goalwright:
        assert "design-team-reports" in goalwright.workspace.certain(Goal(LIKE))
        planned = await goalwright.run(LIKE)
        assert (planned.recipe, plans(model)) == (None, 1)
        named = await goalwright.run(goalwright.from_recipe("weekly", {"team": "design team", "file": "log.md"}))
    assert (named.recipe, plans(model)) == ("weekly", 1)
    assert any("design-team-reports" in text for text in named.warnings), "what is selected is used, or it is told"


@pytest.mark.changes_skills
async def test_a_recipe_that_lacks_what_every_plan_must_use_is_not_used(work: Path) -> None:
    await saved(work)
    add_skill(work, "house-style", "---\nname: house-style\ndescription: Greets readers warmly.\n---\nx\n")
    styled = {"id": "style", "action_type": "skill", "name": "house-style", "depends_on": ["report"]}
    model = planning({"tasks": [*PLAN["tasks"], styled]})
    async with opened(work, model, recipes="auto", skills_require=("house-style",)) as goalwright:
        like = await goalwright.run(LIKE)
        assert (like.status, like.recipe, plans(model) > 0) == ("done", None, True)
        model.asked.clear()
        named = await goalwright.run(goalwright.from_recipe("weekly", {"team": "design team", "file": "log.md"}))
        (row,) = goalwright.recipes.rows()
    assert (named.status, named.recipe, plans(model) > 0) == ("done", None, True)
    assert any("does not use 'house-style', which every plan must" in text for text in named.warnings)
    assert (row.ok, "house-style" in row.reason) == (False, True)


@pytest.mark.changes_skills
async def test_a_recipe_says_why_its_skill_cannot_be_used(work: Path) -> None:
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


async def test_neither_a_conversation_nor_a_form_of_the_answer_takes_a_recipe(work: Path) -> None:
    await saved(work)
    async with opened(work, planning(PLAN), recipes="auto") as goalwright:
        assert goalwright.with_recipe(LIKE).recipe is not None
        assert goalwright.with_recipe(Goal(LIKE, schema={"type": "object", "properties": {}})).recipe is None
        assert goalwright.with_recipe(Goal(LIKE, answers=("a",))).recipe is None
        assert goalwright.with_recipe(Goal(LIKE, files=(work / "notes.md",))).recipe is None


async def test_of_two_recipes_that_fit_as_well_none_is_used(work: Path) -> None:
    await saved(work)
    other = work / "recipes" / "weekly-too.yaml"
    other.write_text((work / "recipes" / "weekly.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    async with opened(work, planning(PLAN), recipes="auto") as goalwright:
        assert goalwright.with_recipe(LIKE).recipe is None


TONE = """goal: Write a weekly report for the {team}
parameters:
- {name: team, default: sales team}
- {name: tone, type: choice, choices: [warm, dry]}
plan:
  tasks:
  - {id: report, action_type: llm, instruction: 'Report on the {team} in a {tone} tone.'}
"""


async def test_a_recipe_that_needs_more_than_the_goal_says_is_used_by_name_only(work: Path) -> None:
    (work / "recipes").mkdir()
    (work / "recipes" / "tone.yaml").write_text(TONE, encoding="utf-8")
    model = planning(PLAN)
    async with opened(work, model, recipes="auto") as goalwright:
        (row,) = goalwright.recipes.rows()
        assert (row.ok, row.reason) == (True, ""), "a value that must be given is no fault"
        result = await goalwright.run("Write a weekly report for the design team")
        asked = plans(model)
        assert (result.status, result.recipe, asked > 0) == ("done", None, True)
        result = await goalwright.run(goalwright.from_recipe("tone", {"team": "design team", "tone": "dry"}))
        assert (result.recipe, plans(model)) == ("tone", asked)
        with pytest.raises(RecipeValueError, match="tone is missing, and has no default"):
            goalwright.from_recipe("tone")
