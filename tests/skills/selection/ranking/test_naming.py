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
def test_named_skills_are_selected_and_certain(pool: list[Skill], goal: str, expected: str) -> None:
    first = RankedDetector().detect(goal, pool)[0]
    assert (first.name, first.certain) == (expected, True)
    assert first.reason.startswith("the goal names it: ")


@pytest.mark.parametrize("goal", ["Did you read the emails from grandma?", "My vortalix is broken"])
def test_ordinary_words_and_family_names_name_no_skill(pool: list[Skill], goal: str) -> None:
    assert not any(one.reason.startswith("the goal names it") for one in RankedDetector().detect(goal, pool))


@pytest.mark.parametrize("goal", ["Do it without scanpy", "My lunch break is short, so never use scanpy for it"])
def test_a_negated_name_does_not_name_a_skill(pool: list[Skill], goal: str) -> None:
    assert not any(one.certain for one in RankedDetector().detect(goal, pool))
