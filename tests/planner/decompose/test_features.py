"""The decomposer's prompt explains each feature of adaptive plans with one valid example, if the feature applies."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.decompose.replan import Situation, variables
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Repeat, Task
from goalwright_planner.plan.task_problems import row_problems
from goalwright_planner.prompting.profile import profile_of
from goalwright_planner.prompting.prompts import Prompts
from goalwright_planner.reading.change_answer import change_schema
from goalwright_planner.reading.shape import AskedPlan, plan_schema

FEATURES = ("for_each", "when", "needs_approval", "output_schema", "check", "model")


def system(goal: str = "Do it", **more: Any) -> str:
    return messages(Brief(goal, "<available_skills/>", "", "today", **({"known": Known()} | more)), Prompts())[
        0
    ].content


def examples(text: str) -> list[dict[str, Any]]:
    """Return the example tasks of a prompt, each of which has its own line."""
    rows = (line.strip().rstrip(",") for line in text.splitlines() if line.startswith('  {"id"'))
    return [json.loads(re.sub(r"\}\],$", "}", row).removesuffix("]")) for row in rows]


def test_each_feature_has_one_example_that_is_valid() -> None:
    known = Known(
        skills=("interviewing",), tools={"sheet_read": {"properties": {"path": {}}}}, models=("fast", "strong")
    )
    shown = examples(system(known=known))
    for feature in FEATURES:
        assert sum(feature in row for row in shown) == 1, feature
    for row in shown:
        assert list(row_problems(1, row, known)) == [], row
        assert row.keys() <= plan_schema()["properties"]["tasks"]["items"]["properties"].keys()


def test_models_are_explained_only_if_some_are_named() -> None:
    assert '"model"' not in system()
    assert '- "model": fast or strong, ' in system(known=Known(models=("fast", "strong")))


def test_system_message_does_not_depend_on_the_goal() -> None:
    first = system()
    begun = (Task("a", "llm", instruction="go"),)
    assert system("Another goal", files=("x.md",), answers=("yes",), schema={"type": "object"}, fixed=begun) == first


def test_small_models_are_not_offered_plan_features() -> None:
    brief = Brief("Do it", "", "", "today", Known(models=("fast",)), profile=profile_of("lm_studio/qwen2.5:0.5b"))
    asked = "".join(message.content for message in messages(brief, Prompts()))
    assert not any(f'"{feature}"' in asked for feature in FEATURES)
    schema = json.dumps(brief.profile.shape.schema(AskedPlan("Do it", (), 3)))
    assert not any(f'"{feature}"' in schema for feature in FEATURES)


def told(goal: str, **more: Any) -> str:
    return messages(Brief(goal, "", "", "today", **({"known": Known()} | more)), Prompts())[-1].content


@pytest.mark.parametrize(
    "goal",
    [
        "Rewrite the summary until it has fewer than 100 words", "Improve the text in three rounds",
        "Keep fixing the script until its tests pass", "Überarbeite den Text, bis er kurz ist und bis die Tests laufen",
        "Réécris le texte jusqu'à ce qu'il soit court", "Reescribe el texto hasta que sea corto",
        "重写摘要，直到少于一百字",
    ],
)  # fmt: skip
def test_rounds_are_explained_if_goal_asks_for_them(goal: str) -> None:
    (shown,) = examples(told(goal))
    assert list(row_problems(1, shown, Known())) == []
    schema = plan_schema(repeats=True)["properties"]["tasks"]["items"]["properties"]
    assert shown["repeat"].keys() <= schema["repeat"]["properties"].keys()
    assert system(goal) == system(), "the part that providers keep is the same"


@pytest.mark.parametrize("goal", ["Write the API documentation", "Untie the knots in notes.md", "Ground the claims"])
def test_rounds_are_not_explained_for_other_goals(goal: str) -> None:
    assert "repeat" not in told(goal) + system(goal)
    assert Brief(goal, "", "", "today", Known()).repeats is False
    assert "repeat" not in plan_schema()["properties"]["tasks"]["items"]["properties"]


def test_small_models_are_not_offered_rounds() -> None:
    brief = Brief("Do it until it holds", "", "", "today", Known(), profile=profile_of("lm_studio/qwen2.5:0.5b"))
    asked = "".join(message.content for message in messages(brief, Prompts()))
    assert '"repeat"' not in asked + json.dumps(
        brief.profile.shape.schema(AskedPlan(brief.goal, (), 3, repeats=brief.repeats))
    )


@pytest.mark.parametrize(
    "goal",
    [
        "Translate every page in docs/, but only those that are old", "For each file: if it has no tests, add some",
        "Answer all mails which mention a refund", "Kürze alle Seiten, aber nur wenn sie veraltet sind",
        "Corrige chaque page, sauf celles qui sont courtes", "Revisa cada archivo, solo si no tiene pruebas",
        "检查每个文件，如果没有测试就写测试",
    ],
)  # fmt: skip
def test_item_conditions_are_explained_if_goal_distinguishes_items(goal: str) -> None:
    (shown,) = examples(told(goal))
    assert ("<<item." in shown["when"], list(row_problems(1, shown, Known()))) == (True, [])
    assert system(goal) == system(), "the part that providers keep is the same"


@pytest.mark.parametrize(
    "goal",
    ["Write the API documentation", "Summarise all the notes", "Find out if it rains", "List each file and its size"],
)
def test_item_conditions_are_not_explained_for_other_goals(goal: str) -> None:
    assert told(goal) == f"<goal>\n{goal}\n</goal>"


def test_small_models_are_not_offered_item_conditions() -> None:
    goal = "Translate each page that is outdated"
    brief = Brief(goal, "", "", "today", Known(), profile=profile_of("lm_studio/qwen2.5:0.5b"))
    assert brief.item_conditions
    assert "<<item" not in "".join(message.content for message in messages(brief, Prompts()))


DRAFT = Task("draft", "llm", instruction="Write it.")
IN_ROUNDS = Task("draft", "llm", instruction="Write it.", repeat=Repeat("<<draft.output>> is not empty", 3))


@pytest.mark.parametrize(
    ("goal", "task", "reason"),
    [
        ("Write it until it is short", DRAFT, "task 'draft' failed"),
        ("Write it", IN_ROUNDS, "task 'draft' failed"),
        ("Write it", DRAFT, "the person asks for this: do it again until it has fewer than 100 words"),
    ],
)
def test_change_may_have_rounds_if_goal_plan_or_reason_does(goal: str, task: Task, reason: str) -> None:
    brief, situation = Brief(goal, "", "", "today", Known()), Situation(Plan((task,)), (), (reason,), 1)
    given = variables(brief, situation)
    asked = Prompts().render("replanner", "user", given)
    (shown,) = examples(asked)
    assert (list(row_problems(1, shown, Known())), shown["repeat"]["most"]) == ([], 4)
    assert asked.index('"repeat"') < asked.index("Answer with a change instead of a plan")
    added = change_schema(repeats=given["repeats"])["properties"]["add"]["items"]["properties"]
    assert shown["repeat"].keys() <= added["repeat"]["properties"].keys()


def test_rounds_are_not_explained_for_other_changes() -> None:
    situation = Situation(Plan((DRAFT,)), (), ("task 'draft' failed, and the answer lacks its result",), 1)
    given = variables(Brief("Write it", "", "", "today", Known()), situation)
    assert given["repeats"] is False
    assert "repeat" not in Prompts().render("replanner", "user", given)
    assert "repeat" not in change_schema()["properties"]["add"]["items"]["properties"]
