"""A small model that plans chooses among described skills where the selection is in doubt."""

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
LISTING = render(NAMES[:2], [Skill(name, f"Does {name}.", f"/w/{name}/SKILL.md", "project") for name in NAMES])
PLANNER = profiles()["small-planner"]
DOUBTFUL = Brief("Do it all", LISTING, "", "today", Known(NAMES), names=("skill-0", "skill-1"), profile=PLANNER)


def asked(brief: Brief) -> str:
    return messages(brief, Prompts())[-1].content


def test_skills_in_doubt_stand_among_others_with_a_line_of_each() -> None:
    assert DOUBTFUL.shown == tuple(NAMES[:12])
    assert asked(DOUBTFUL).endswith("Skills:\n" + "\n".join(f"- {name}: Does {name}." for name in NAMES[:12]))


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
