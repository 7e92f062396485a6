"""A small model that plans chooses among described skills where the selection is in doubt, or skills are functions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft_planner.decompose.brief import Brief
from weft_planner.decompose.decompose import messages
from weft_planner.plan.validate import Known
from weft_planner.prompting.profile import FULL, profiles
from weft_planner.prompting.prompts import Prompts
from weft_skills.discovery.listing import render
from weft_skills.skill import Skill

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


def test_skills_in_doubt_stand_among_others_with_a_line_of_each() -> None:
    assert DOUBTFUL.shown == tuple(NAMES[:12])
    lines = [f"- {name}: Does {name} from start to end, with a template for the report, three" for name in NAMES[:12]]
    assert asked(DOUBTFUL).splitlines()[2:] == [f"{line}…" for line in lines]


def test_one_certain_skill_beside_a_doubtful_one_has_to_be_used_all_the_same() -> None:
    brief = replace(DOUBTFUL, certain=("skill-0",))
    assert (brief.must_use, len(brief.shown)) == (("skill-0",), 12)


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
def test_otherwise_only_the_selected_ones_are_named(brief: Brief, shown: tuple[str, ...]) -> None:
    assert (brief.shown, brief.lines) == (shown, {})


def test_a_goal_that_is_one_thing_is_still_one_task() -> None:
    ruled = replace(DOUBTFUL, goal="Explain how tides work").by_rule()
    assert ruled is not None
    assert [task.name for task in ruled.plan.tasks] == ["skill-0"]


def test_one_sentence_over_functions_may_be_a_chain_of_them() -> None:
    assert FUNCTIONS.by_rule() is None
    lengths = PLANNER.shape.schema(FUNCTIONS.asked_plan)["properties"]["tasks"]["anyOf"]
    assert max(length["maxItems"] for length in lengths) == 3
    shown = messages(FUNCTIONS, Prompts())
    assert [message.role for message in shown] == ["system", "user", "assistant", "user"]
    assert "- find-doctor: Get a doctor's details by their ID." in shown[1].content
    assert "- skill-3: Get skill-3 by its ID." in shown[-1].content


def test_functions_that_are_certain_stand_among_those_they_may_need() -> None:
    assert len(replace(FUNCTIONS, certain=FUNCTIONS.names).shown) == 12


@pytest.mark.parametrize(
    "brief",
    [replace(FUNCTIONS, names=()), replace(FUNCTIONS, profile=profiles()["small"]), replace(FUNCTIONS, profile=FULL)],
    ids=["none selected", "model that does not plan", "large model"],
)
def test_functions_make_no_difference_where_none_is_selected_or_none_are_offered(brief: Brief) -> None:
    assert not brief.functions
    assert not any(example.lines for example in brief.examples)


def test_a_goal_that_lists_things_is_shown_the_same_examples_over_functions() -> None:
    brief = replace(FUNCTIONS, goal="Find the director of Ran, list his films, and write a note about each of them")
    assert brief.examples == DOUBTFUL.examples
