"""A small model that plans chooses among described skills if the selection is uncertain, and among fitting tools."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.judging import PlanJudge
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.events import PlanMade
from goalwright_planner.model import Reply, ToolSpec
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.profile import FULL, profiles
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.discovery.listing import render
from goalwright_skills.skill import Skill
from goalwright_skills.tools import listing as tool_listing

NAMES = [f"skill-{number}" for number in range(20)]
PLANNER = profiles()["small-planner"]


def listing(description: str) -> str:
    skills = [Skill(name, description.format(name), f"/w/{name}/SKILL.md", "project") for name in NAMES]
    return render(NAMES[:2], skills)


ABOUT = "Does {0} from start to end, with a template for the report, three examples, and rules for tables"
DOUBTFUL = Brief("Do it all", listing(ABOUT), "", "today", Known(NAMES), names=("skill-0", "skill-1"), profile=PLANNER)
FUNCTIONS = replace(DOUBTFUL, goal="When was the director of Ran born?", skills=listing("Get {0} by its ID."))


def asked(brief: Brief) -> str:
    return messages(brief, Prompts())[-1].content


def test_uncertain_skills_are_listed_with_descriptions_among_others() -> None:
    assert DOUBTFUL.candidates.skills == tuple(NAMES[:12])
    lines = [f"- {name}: Does {name} from start to end, with a template for the report, three" for name in NAMES[:12]]
    assert asked(DOUBTFUL).splitlines()[2:] == [f"{line}…" for line in lines]


def test_certain_skill_beside_uncertain_skill_must_be_used() -> None:
    brief = replace(DOUBTFUL, certain=("skill-0",))
    assert (brief.must_use, len(brief.candidates.skills)) == (("skill-0",), 12)


@pytest.mark.parametrize(
    ("brief", "shown"),
    [
        (replace(DOUBTFUL, certain=("skill-0", "skill-1")), ("skill-0", "skill-1")),
        (replace(DOUBTFUL, names=()), ()),
        (replace(DOUBTFUL, profile=profiles()["small"]), ("skill-0", "skill-1")),
        (replace(DOUBTFUL, profile=FULL), ("skill-0", "skill-1")),
        (replace(DOUBTFUL, skills="<available_skills/>"), ("skill-0", "skill-1")),
    ],
    ids=["certain", "none selected", "model that does not plan", "large model", "nothing listed"],
)
def test_otherwise_only_selected_skills_are_named(brief: Brief, shown: tuple[str, ...]) -> None:
    assert (brief.candidates.skills, brief.candidates.lines) == (shown, {})


def test_goal_that_is_one_thing_is_still_one_task() -> None:
    ruled = replace(DOUBTFUL, goal="Explain how tides work").by_rule()
    assert ruled is not None
    assert [task.name for task in ruled.plan.tasks] == ["skill-0"]


def test_one_sentence_may_become_a_chain_of_functions() -> None:
    assert FUNCTIONS.by_rule() is None
    lengths = PLANNER.shape.schema(FUNCTIONS.asked_plan)["properties"]["tasks"]["anyOf"]
    assert max(length["maxItems"] for length in lengths) == 3
    shown = messages(FUNCTIONS, Prompts())
    assert [message.role for message in shown] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert shown[1].content.splitlines()[-1] == "- search-book"
    assert shown[-1].content.splitlines()[2:] == [f"- {name}" for name in NAMES]


def test_function_whose_name_does_not_describe_it_has_a_description() -> None:
    rows = {"hypot": "Length of the long side.", "lookup-b": "Search for a film.", "search_film": "Search for films."}
    skills = [Skill(name, about, f"/w/{name}/SKILL.md", "project") for name, about in rows.items()]
    brief = replace(FUNCTIONS, skills=render(["hypot"], skills), known=Known(list(rows)), names=("hypot",))
    assert asked(brief).splitlines()[2:] == [
        "- hypot: Length of the long side.",
        "- lookup-b: Search for a film.",
        "- search_film",
    ]


def test_certain_functions_are_listed_among_other_functions() -> None:
    assert len(replace(FUNCTIONS, certain=FUNCTIONS.names).candidates.skills) == 20


def test_more_functions_than_described_skills_are_shown() -> None:
    skills = [Skill(f"get-{number}", "Get it by its ID.", f"/w/{number}/SKILL.md", "project") for number in range(99)]
    brief = replace(FUNCTIONS, skills=render([], skills), known=Known([skill.name for skill in skills]))
    assert (len(brief.candidates.skills), len(DOUBTFUL.candidates.skills)) == (24, 12)


@pytest.mark.parametrize(
    "brief",
    [replace(FUNCTIONS, names=()), replace(FUNCTIONS, profile=profiles()["small"]), replace(FUNCTIONS, profile=FULL)],
    ids=["none selected", "model that does not plan", "large model"],
)
def test_functions_are_ignored_if_none_is_selected_or_offered(brief: Brief) -> None:
    assert not brief.candidates.functions
    assert not any(example.lines for example in brief.candidates.examples)


def test_goal_that_lists_things_gets_usual_examples_with_functions() -> None:
    brief = replace(FUNCTIONS, goal="Find the director of Ran, list his films, and write a note about each of them")
    assert brief.candidates.examples == DOUBTFUL.candidates.examples


async def test_chain_of_functions_need_not_repeat_the_goal() -> None:
    tasks = [{"id": "t1", "use": "skill-0", "instruction": "Search for the film.", "depends_on": []}]
    reply = Reply(json.dumps({"tasks": tasks}))
    made = await PlanJudge(FUNCTIONS).verdict(reply, 1)
    assert isinstance(made, PlanMade)
    assert (made.plan.tasks[0].instruction, made.repairs) == ("Search for the film.", ())
    completed = await PlanJudge(replace(DOUBTFUL, goal=FUNCTIONS.goal)).verdict(reply, 1)
    assert isinstance(completed, PlanMade)
    assert (completed.plan.tasks[0].instruction, len(completed.repairs)) == (FUNCTIONS.goal, 1)


def test_goal_with_material_gets_similar_example_without_skills() -> None:
    brief = replace(DOUBTFUL, goal="Who is it?\napi_list: [{'name': 'rota', 'parameters': {'week': 'its number'}}]")
    assert not any(example.material for example in brief.candidates.examples)
    alone = replace(brief, names=(), known=Known([]), skills="")
    assert [example.material for example in alone.candidates.examples] == ["functions"]
    tables = replace(alone, goal="Who borrowed three books?\nTables: members (id, name), loans (member_id, book_id)")
    assert [example.material for example in tables.candidates.examples] == ["data"]
    assert not any(example.material for example in replace(alone, goal="Who is on call?").candidates.examples)


def test_goal_with_material_is_planned_in_steps() -> None:
    alone = replace(
        DOUBTFUL, goal="Who is it?\nFunctions: rota(week), phone(name)", names=(), known=Known([]), skills=""
    )
    assert "one for each step towards it" in messages(alone, Prompts())[0].content
    with_skills = replace(alone, names=DOUBTFUL.names, known=DOUBTFUL.known, skills=DOUBTFUL.skills)
    for other in (replace(alone, goal="Who is on call?"), with_skills):
        assert "one task for each thing the goal lists" in messages(other, Prompts())[0].content


PATIENT = ToolSpec("find_patient", "Search for a patient by name.", {"properties": {"name": {}, "city": {}}})
VISITS = ToolSpec("list_visits", "List the visits of a patient.", {"properties": {"patient_id": {}}})
TOOLS = {tool.name: tool.parameters for tool in (PATIENT, VISITS)}
CALLING = Brief(
    "When did Ana Silva come last?",
    "<available_skills/>",
    tool_listing.render([PATIENT, VISITS]),
    "today",
    Known((), TOOLS),
    profile=PLANNER,
    called=("list_visits", "find_patient"),
)


def test_tools_are_shown_with_their_parameters_and_examples_of_calls() -> None:
    shown = messages(CALLING, Prompts())
    assert shown[-1].content.splitlines()[2:] == [
        "Tools:",
        "- list_visits(patient_id): List the visits of a patient.",
        "- find_patient(name, city): Search for a patient by name.",
    ]
    assert "<<t1.output>>" in shown[0].content
    assert all("arguments" in message.content for message in shown if message.role == "assistant")
    assert set(PLANNER.shape.schema(CALLING.asked_plan)["$defs"]) >= {"arguments1", "arguments2"}


def test_goal_for_tools_is_not_planned_by_rule() -> None:
    simple = replace(CALLING, goal="List the visits of Ana Silva")
    assert replace(simple, called=()).by_rule() is not None
    assert simple.by_rule() is None


def test_prompt_does_not_mention_tools_if_none_fits() -> None:
    shown = messages(replace(CALLING, called=()), Prompts())
    assert not any("ools" in message.content or "arguments" in message.content for message in shown)
