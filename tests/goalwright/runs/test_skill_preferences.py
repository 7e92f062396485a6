"""Users decide: skills that are pinned, required, manual or off, and what the authors of skills say about calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright import Answer
from goalwright.runs.goal import Goal
from goalwright.runs.plans.plan_file import PlanFile
from goalwright.runs.steps.selecting import Selecting
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.reselect import reselect
from goalwright.workspace.workspace import Workspace
from goalwright_planner.decompose import required
from goalwright_planner.errors import RequestRefused, SkillNotUsed
from goalwright_planner.events import CatalogueTaken, PlanRefused, SkillsSelected, TaskStarted, Warned
from goalwright_planner.model import Reply, Request
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.errors import InputError
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import (
    BRIEF,
    GOAL,
    NOTES,
    PLAN,
    SKILL,
    SURVEY,
    answering,
    goalwright,
    prepare,
    replayed,
    rows,
)

if TYPE_CHECKING:
    from pathlib import Path

STYLE = "house-style"
STYLED = {"id": "style", "action_type": "skill", "name": STYLE, "instruction": "Style it", "depends_on": ["brief"]}


@pytest.fixture(autouse=True)
def skills(workspace: Path) -> None:
    prepare(workspace)
    style(workspace)


def style(workspace: Path, name: str = STYLE, extra: str = "") -> None:
    add_skill(
        workspace, name, f"---\nname: {name}\ndescription: Greets readers warmly, {name}.\n{extra}---\nBe brief.\n"
    )


def planning(*plans: dict[str, Any]) -> ScriptedModel:
    """A model that gives these plans, one after the other, then the last one again."""
    left = list(plans)

    def answer(request: Request) -> Reply:
        if request.role != "decomposer":
            return answering(request)
        return Reply(json.dumps(left.pop(0) if len(left) > 1 else left[0]), cost=0.01)

    return ScriptedModel(answer)


async def test_a_required_skill_is_selected_and_asked_for_until_the_plan_uses_it(workspace: Path) -> None:
    record = Recorder()
    model = planning(PLAN, {"tasks": [SURVEY, NOTES, BRIEF, STYLED], "synthesis": "short"})
    async with goalwright(workspace, model, skills_require=(STYLE,)) as runtime:
        result = await runtime.run(GOAL, record=record)
    assert (result.status, result.skills[0]) == ("done", STYLE)
    (selected,) = record.of(SkillsSelected)
    first = selected.selections[0]
    assert (first.score, first.certain, "required" in first.reason) == (1.0, True, True)
    (refused,) = record.of(PlanRefused)
    assert f"no task uses the skill '{STYLE}', which the user requires" in refused.faults[0]
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_run_whose_plans_never_use_a_required_skill_fails_before_its_tasks(workspace: Path) -> None:
    record, model = Recorder(), planning(PLAN)
    async with goalwright(workspace, model, skills_require=(STYLE,)) as runtime:
        result = await runtime.run(GOAL, record=record)
    assert (result.status, len(model.asked)) == ("failed", 3)
    assert record.of(TaskStarted) == []
    assert f"the last of 3 plans of scripted does not use the required skill '{STYLE}'" in (result.error or "")
    assert "take it out of `require`, which counts for new runs" in (result.error or "")
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_plan_is_not_made_where_a_required_skill_never_comes(workspace: Path) -> None:
    async with goalwright(workspace, planning(PLAN), skills_require=(STYLE,)) as runtime:
        with pytest.raises(SkillNotUsed, match=STYLE):
            await runtime.plan(GOAL)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"skills_require": ("house-stile",)}, "there is no such skill; known skills: house-style"),
        ({"skills_require": (STYLE,), "skills_off": (STYLE,)}, "it is disabled (disabled by [skills] off)"),
    ],
)
async def test_a_required_skill_that_is_not_there_fails_the_run_before_a_call(
    settings: dict[str, Any], why: str, workspace: Path
) -> None:
    model = planning(PLAN)
    async with goalwright(workspace, model, **settings) as runtime:
        result = await runtime.run(GOAL)
    assert (result.status, model.asked) == ("failed", [])
    assert why in (result.error or "")


async def test_without_overrides_a_required_skill(workspace: Path) -> None:
    model = planning(PLAN)
    async with goalwright(workspace, model, skills_require=(STYLE,), skills_without=(STYLE,)) as runtime:
        result = await runtime.run(GOAL)
    assert (result.status, STYLE in result.skills) == ("done", False)
    (warning,) = result.warnings
    assert warning == f"skills_without names '{STYLE}', which [skills] require names too: skills_without counts"
    assert sum(request.role == "decomposer" for request in model.asked) == 1
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_rerun_must_use_a_skill_that_is_required_since_and_a_resumed_run_keeps_its_plan(
    workspace: Path,
) -> None:
    async with goalwright(workspace, planning(PLAN)) as runtime:
        first = await runtime.run(GOAL)
        cut = await runtime.run(Goal("Ask", plan=Plan.from_dict({"tasks": [{**NOTES, "needs_approval": True}]})))
    async with goalwright(workspace, planning(PLAN), skills_require=(STYLE,)) as runtime:
        again = await runtime.rerun(first.run_id, runtime.plan_rerun(first.run_id, ["brief"], {}))
        resumed = await runtime.resume(cut.run_id, answers={cut.waiting[0].id: Answer("allow")})
    assert (again.status, again.tasks, resumed.status) == ("failed", (), "done")
    assert f"does not use the required skill '{STYLE}'" in (again.error or "")


async def test_a_given_plan_must_use_a_required_skill_too(workspace: Path) -> None:
    async with goalwright(workspace, planning(PLAN), skills_require=(STYLE,)) as runtime:
        without = await runtime.run(Goal(GOAL, plan=Plan.from_dict(PLAN)))
        plan = Plan.from_dict({"tasks": [{**STYLED, "depends_on": []}]})
        using = await runtime.run(Goal(GOAL, plan=plan))
    assert (without.status, without.tasks) == ("failed", ())
    assert f"the given plan does not use the required skill '{STYLE}'" in (without.error or "")
    assert "add a task that uses it to the plan" in (without.error or "")
    assert using.status == "done"


async def test_no_change_of_a_plan_drops_a_required_skill(workspace: Path) -> None:
    broken = {"id": "broken", "action_type": "llm", "instruction": "Break.", "depends_on": []}
    first = {"tasks": [broken, {**STYLED, "depends_on": ["broken"]}]}
    change = {"add": [{**broken, "id": "other"}], "drop": ["style"], "rewire": {"broken": "other"}}
    record = Recorder()

    def answer(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps(first))
        if request.role == "replanner":
            return Reply(json.dumps(change | {"unused": {STYLE: "the reader knows"}}))
        raise RequestRefused("no")

    async with goalwright(workspace, ScriptedModel(answer), skills_require=(STYLE,), max_replans=1) as runtime:
        result = await runtime.run(GOAL, record=record)
        hand = runtime.plan_of(result.run_id)
        without = Plan.from_dict({"tasks": [{**broken, "id": "other"}]})
        with pytest.raises(InputError, match=f"no task uses the skill '{STYLE}' any more"):
            await runtime.resume(result.run_id, plan=PlanFile(without))
    assert [one.faults for one in record.of(PlanRefused)] == [(required.Unused(STYLE).fault,)] * 3
    assert [task.id for task in hand.plan.tasks] == ["broken", "style"]
    assert any("the plan was not changed" in text for text in result.warnings)
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_no_task_starts_early_where_a_skill_is_required(workspace: Path) -> None:
    model = planning(PLAN)
    async with goalwright(workspace, model, skills_require=(STYLE,), stream_plan=True) as runtime:
        await runtime.run(GOAL)
    assert {request.on_text for request in model.asked} == {None}


async def test_a_manual_skill_is_neither_selected_nor_listed_unless_the_goal_names_it(workspace: Path) -> None:
    style(workspace, "from-author", "disable-model-invocation: true\n")
    goal = "Greet readers warmly in house style, from author"
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering), skills_manual=(STYLE,)) as runtime:
        result = await runtime.run(goal, record=record)
        (taken,) = record.of(CatalogueTaken)
        assert not {STYLE, "from-author"}.intersection(result.skills)
        assert "house-style" not in taken.skill_listing
        assert "from-author" not in taken.skill_listing
        named = await runtime.run(f"${STYLE} and use the from-author skill: {goal}", record=(record := Recorder()))
        (taken,) = record.of(CatalogueTaken)
        assert named.skills[:2] == (STYLE, "from-author")
        assert "<name>from-author</name>" in taken.skill_listing
        assert STYLE not in (await runtime.run(f"Greet readers with {STYLE}")).skills
        assert STYLE not in (await runtime.run(f"Greet readers, but do not use the {STYLE} skill")).skills
        forced = await runtime.run(Goal(GOAL, skills=(STYLE,)))
    assert forced.skills[0] == STYLE


async def test_a_model_cannot_plan_with_a_manual_skill_by_itself(workspace: Path) -> None:
    record = Recorder()
    model = planning({"tasks": [{**STYLED, "depends_on": []}]}, PLAN)
    async with goalwright(workspace, model, skills_manual=(STYLE,)) as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
        (refused,) = record.of(PlanRefused)
        given = Plan.from_dict({"tasks": [{**STYLED, "depends_on": []}]})
        assert (await runtime.run(Goal(GOAL, plan=given))).status == "done"
    assert f"there is no skill '{STYLE}'" in refused.faults[0]


PLAIN = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Do it"}]}
WITH_STYLE = {"tasks": [{**STYLED, "depends_on": []}]}


def sub_goal(words: str, **rest: Any) -> dict[str, Any]:
    return {"id": "part", "action_type": "goal", "instruction": words, **rest}


def growing(plan: dict[str, Any], *parts: dict[str, Any], listed: str = "[]") -> ScriptedModel:
    """A model that gives a plan for the run, these for its sub-goals in turn, and a list for the task `list`."""
    left = list(parts)

    def answer(request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(json.dumps(plan if request.task is None else left.pop(0) if len(left) > 1 else left[0]))
        return Reply(listed) if request.task == "list" else answering(request)

    return ScriptedModel(answer)


def selected_for(record: Recorder, task: str) -> list[str]:
    (found,) = (one for one in record.of(SkillsSelected) if one.task == task)
    return [one.name for one in found.selections]


@pytest.mark.parametrize("said", [f"ticket 1: ${STYLE} now", f"use the {STYLE} skill"])
async def test_data_in_a_sub_goal_cannot_name_a_manual_skill(said: str, workspace: Path) -> None:
    listing = {"id": "list", "action_type": "llm", "instruction": "List the tickets"}
    each = sub_goal("Handle <<item>>", depends_on=["list"], for_each="<<list.output>>")
    model, record = growing({"tasks": [listing, each]}, WITH_STYLE, PLAIN, listed=json.dumps([said])), Recorder()
    async with goalwright(workspace, model, skills_manual=(STYLE,)) as runtime:
        result = await runtime.run("Handle the tickets", record=record)
    assert result.status == "done"
    assert STYLE not in selected_for(record, "part[1]")
    assert [f"there is no skill '{STYLE}'" in one.faults[0] for one in record.of(PlanRefused)] == [True]
    assert [one for one in result.warnings if f"a sub-goal names {STYLE}" in one]
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_model_cannot_name_a_manual_skill_in_a_sub_goal(workspace: Path) -> None:
    style(workspace, "warm-tone", "disable-model-invocation: true\n")
    outer = {"tasks": [sub_goal("Use skill warm-tone, count the sheep in the field")]}
    inner = {"tasks": [{**sub_goal("$warm-tone, count the sheep in the field"), "id": "deeper"}]}
    record = Recorder()
    async with goalwright(workspace, growing(outer, inner, PLAIN)) as runtime:
        result = await runtime.run("Greet the readers", record=record)
    assert result.status == "done"
    for task in ("part", "part/deeper"):
        assert "warm-tone" not in selected_for(record, task)
    assert sum("a sub-goal names warm-tone" in one for one in result.warnings) == 1
    assert (await replayed(workspace, rows(workspace))).drift == ()


@pytest.mark.parametrize(
    "goal",
    [
        Goal(f"${STYLE}: greet the readers"),
        Goal("Greet the readers", skills=(STYLE,)),
        Goal(
            "Greet the readers",
            plan=Plan.from_dict({"tasks": [sub_goal(f"Use the {STYLE} skill"), STYLED | {"depends_on": ["part"]}]}),
        ),
    ],
    ids=["goal", "--skill", "plan"],
)
async def test_a_sub_goal_can_name_a_manual_skill_that_its_run_was_given(goal: Goal, workspace: Path) -> None:
    outer, record = {"tasks": [sub_goal(f"Use the {STYLE} skill")]}, Recorder()
    async with goalwright(workspace, growing(outer, WITH_STYLE), skills_manual=(STYLE,)) as runtime:
        result = await runtime.run(goal, record=record)
    assert (result.status, record.of(PlanRefused)) == ("done", [])
    assert selected_for(record, "part")[0] == STYLE
    assert result.warnings == ()
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_manual_skill_of_a_recorded_sub_goal_stays_with_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of a version that let a sub-goal name any skill are resumed and replayed as they were."""
    outer = {"tasks": [sub_goal(f"Use the {STYLE} skill")]}
    fails, model = True, growing(outer, WITH_STYLE)

    def answer(request: Request) -> Reply | Exception:
        return RequestRefused("no") if fails and request.role == "task" else model.script(request)

    with monkeypatch.context() as before:
        before.setattr(Selecting, "_nameable", None)
        async with goalwright(workspace, ScriptedModel(answer), skills_manual=(STYLE,), max_replans=0) as runtime:
            first = await runtime.run("Greet the readers")
    assert first.status == "failed"
    fails, again = False, ScriptedModel(answer)
    async with goalwright(workspace, again) as runtime:
        result = await runtime.resume(first.run_id)
    assert result.status == "done"
    assert [request.role for request in again.asked if request.role == "decomposer"] == []
    replay = await replayed(workspace, rows(workspace))
    assert (replay.result.status, replay.drift) == ("done", ())


async def test_a_pinned_skill_is_listed_behind_the_selected_ones_in_full(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLS_PROMPT_CHAR_BUDGET", "1500")
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering), skills_pin=(STYLE,)) as runtime:
        result = await runtime.run(GOAL, record=record)
    (taken,) = record.of(CatalogueTaken)
    listed = [line[6:-7] for line in taken.skill_listing.splitlines() if line.startswith("<name>")]
    assert STYLE not in result.skills
    assert listed[: len(result.skills) + 1] == [*result.skills, STYLE]
    assert "Greets readers warmly, house-style." in taken.skill_listing


async def test_a_disabled_skill_is_hidden(workspace: Path) -> None:
    async with goalwright(workspace, planning({"tasks": [NOTES], "synthesis": "x"}), skills_off=(SKILL,)) as runtime:
        assert SKILL not in (await runtime.run(GOAL)).skills
        with pytest.raises(InputError, match=rf"the skill '{SKILL}' is disabled by \[skills\] off; known skills: "):
            await runtime.run(Goal(GOAL, skills=(SKILL,)))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"skills_off": ("excel",)}, "disabled by [skills] off"),
        ({"skills_without": ("excel",)}, "left out of this run"),
    ],
)
async def test_disabled_installed_tools_are_hidden(settings: dict[str, Any], why: str, workspace: Path) -> None:
    task = {"id": "read", "action_type": "tool", "name": "excel_read", "arguments": {"path": "a.xlsx"}}
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering), **settings) as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
        (fault,) = read_plan({"tasks": [task]}, runtime.workspace.known()).faults
    assert f"the tool 'excel_read' cannot be used: {why}" in fault
    (taken,) = record.of(CatalogueTaken)
    assert "excel_" not in taken.tool_listing
    assert not [one.message for one in record.of(Warned) if "excel" in one.message]


async def test_a_preview_has_the_warnings_of_a_run(workspace: Path) -> None:
    style(workspace, "inner", "user-invocable: false\n")
    async with goalwright(workspace, ScriptedModel(answering), skills_require=("gone-skill",)) as runtime:
        preview = await runtime.preview(f"$inner {GOAL}")
    assert [what in " ".join(preview.warnings) for what in ("require names 'gone-skill'", "names inner")] == [True] * 2


async def test_a_skill_that_people_may_not_call_says_so(workspace: Path) -> None:
    style(workspace, "inner", "user-invocable: false\n")
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        with pytest.raises(InputError, match=r"'inner' is not called by name: .*user-invocable: false"):
            await runtime.run(Goal(GOAL, skills=("inner",)))
        result = await runtime.run(f"$inner {GOAL}", record=record)
        fits = await runtime.run("Greet readers warmly: inner greets")
    assert "inner" not in result.skills
    assert any("the goal names inner, which is not called by name" in one.message for one in record.of(Warned))
    assert "inner" in fits.skills


@pytest.mark.parametrize("form", ["${}: ", "Use the {} skill. ", "Load skill `{}`. "])
async def test_a_goal_that_asks_for_a_skill_that_is_off_or_broken_is_warned(workspace: Path, form: str) -> None:
    add_skill(workspace, "torn-notes", "---\nname: [\n---\n")
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering), skills_off=(STYLE,)) as runtime:
        goal = "".join(form.format(name) for name in (STYLE, "torn-notes")) + GOAL
        assert (await runtime.run(goal, record=record)).status == "done"
        passing = await runtime.run(f"{GOAL}, in {STYLE}, and mind the torn-notes")
        planned = {"tasks": [{**STYLED, "name": "torn-notes", "depends_on": []}]}
        (fault,) = read_plan(planned, runtime.workspace.known()).faults
    first, second = (one.message for one in record.of(Warned) if "the goal names" in one.message)
    assert first == f"the goal names '{STYLE}', which is disabled by [skills] off; it is not used"
    assert second.startswith("the goal names 'torn-notes', which is broken: ")
    assert not [text for text in passing.warnings if "the goal names" in text]
    assert "the skill 'torn-notes' is broken: " in fault
    with pytest.raises(InputError, match=f"the skill '{STYLE}' is disabled by") as refused:
        runtime.workspace.skills.check_known([STYLE], runtime.workspace.skills.active())
    assert refused.value.hint == "fix the skill, or use one of these names"


async def test_no_warning_is_given_where_another_skill_of_the_name_is_used(workspace: Path) -> None:
    add_skill(workspace / ".agents", STYLE, "---\nname: [\n---\n")
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        result = await runtime.run(f"${STYLE}: {GOAL}")
    assert result.skills[0] == STYLE
    assert not [text for text in result.warnings if "the goal names" in text]


async def test_unknown_names_cause_a_warning(workspace: Path) -> None:
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering), skills_pin=("house-stile",)) as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
    warned = [one.message for one in record.of(Warned) if "[skills]" in one.message]
    assert len(warned) == 1
    assert "pin names 'house-stile', and there is no such skill; the nearest names are house-style" in warned[0]


async def test_a_recorded_goal_is_selected_again_by_todays_settings(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    (now,) = reselect(
        [rows(workspace)], Workspace(Paths.of(workspace, {}), Settings(skills_manual=(SKILL,), skills_require=(STYLE,)))
    )
    assert (now.to_dict()["dropped"], now.to_dict()["added"][0]) == ([SKILL], STYLE)


async def test_a_model_that_selects_is_asked_once_where_a_manual_skill_is_named(workspace: Path) -> None:
    model = planning(PLAN)
    async with goalwright(workspace, model, skills_manual=(STYLE,), detector="llm") as runtime:
        result = await runtime.run(f"${STYLE} {GOAL}")
    assert result.skills[0] == STYLE
    assert sum(request.role == "detector" for request in model.asked) == 1
