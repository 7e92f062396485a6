"""Skills that a goal names in passing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.ranked import RankedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

POOL = {
    "scanpy": "Single-cell analysis of expression matrices.",
    "release-notes": "Turns merged changes into notes for users.",
    "emails": "Writes sequences of messages that nurture leads.",
    "vortalix-queues": "Routes work between robots.",
    "vortalix-assets": "Keeps credentials of robots.",
    "vortalix-jobs": "Starts and stops robots.",
    "bread": "Bakes sourdough and rye.",
}


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"')
    return registry(tmp_path).list_skills()


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("my lunch break is short, so please do it in scanpy", "scanpy"),
        ("Could someone put together release notes? It is raining outside.", "release-notes"),
    ],
)
def test_a_skill_that_a_goal_names_is_selected_and_certain(pool: list[Skill], goal: str, expected: str) -> None:
    first = RankedDetector().detect(goal, pool)[0]
    assert (first.name, first.certain) == (expected, True)
    assert first.reason.startswith("the goal names it: ")


@pytest.mark.parametrize("goal", ["Did you read the emails from grandma?", "My vortalix is broken"])
def test_an_ordinary_word_and_one_of_a_whole_family_name_no_skill(pool: list[Skill], goal: str) -> None:
    assert not any(one.reason.startswith("the goal names it") for one in RankedDetector().detect(goal, pool))


@pytest.mark.parametrize("goal", ["Do it without scanpy", "My lunch break is short, so never use scanpy for it"])
def test_a_goal_that_refuses_a_skill_does_not_name_it(pool: list[Skill], goal: str) -> None:
    assert not any(one.certain for one in RankedDetector().detect(goal, pool))


def test_a_skill_that_a_goal_says_not_to_use_is_not_selected_however_well_it_fits(pool: list[Skill]) -> None:
    fitting = "Single-cell analysis of the expression matrices in data.h5ad"
    assert [one.name for one in RankedDetector().detect(fitting, pool)] == ["scanpy"]
    goal = f"{fitting}, but do not use scanpy"
    assert RankedDetector().detect(goal, pool) == []
    assert RankedDetector().rank(goal, pool, 3)[0].name == "scanpy"
    changes = {one.name: one.change for one in RankedDetector().explain(goal, pool, 1).candidates}
    assert changes["scanpy"] == "the goal would have to leave out that it is not to be used"


def test_a_skill_that_a_goal_says_not_to_use_gives_its_place_to_the_next_best(tmp_path: Path) -> None:
    for name in ("weekly-report-generator", "weekly-summary"):
        put(tmp_path / "skills" / name, name, '"Writes the weekly status report of a team: plans, progress, problems."')
    pool = registry(tmp_path).list_skills()
    goal = "do not use the weekly-report-generator skill, write the weekly status report of the team"
    assert [one.name for one in RankedDetector().detect(goal, pool)] == ["weekly-summary"]
