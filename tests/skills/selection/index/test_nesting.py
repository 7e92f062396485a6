"""Skills in another skill's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.index.nesting import hubs_first, parents
from goalwright_skills.selection.ranked import RankedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    vectors = tmp_path / "skills" / "vector-search"
    put(vectors, "vector-search", "Runs a vector database: scaling, latency and memory of the cluster.")
    put(vectors / "scaling", "scaling", "Scales a vector database cluster to more nodes.")
    put(vectors / "scaling/tenants", "tenants", "Isolates tenants: quotas, payload partitions and tenant migration.")
    put(tmp_path / "skills" / "bread", "bread", "Bakes bread and cakes.")
    return registry(tmp_path).list_skills()


def test_on_a_near_tie_the_hub_comes_first() -> None:
    above = {1: 0}.get
    assert hubs_first({0: 5.0, 1: 5.05}, above)[0] > 5.05
    assert hubs_first({0: 5.0, 1: 5.5}, above) == {0: 5.0, 1: 5.5}
    assert hubs_first({0: 5.6, 1: 5.5}, above) == {0: 5.6, 1: 5.5}


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Quotas and payload partitions for tenant migration", "tenants"),
        ("Scale the vector database cluster to more nodes", "scaling"),
        ("Latency and memory of the vector database cluster", "vector-search"),
    ],
)
def test_a_hub_does_not_hide_a_nested_skill_that_fits_better(pool: list[Skill], goal: str, expected: str) -> None:
    assert RankedDetector().detect(goal, pool)[0].name == expected


def test_a_nested_skill_that_the_goal_names_comes_first(pool: list[Skill]) -> None:
    result = RankedDetector().detect("$scaling for the vector database cluster", pool)
    assert (result[0].name, result[0].score) == ("scaling", 1.0)


def test_the_nearest_enclosing_skill_is_the_parent(pool: list[Skill]) -> None:
    names = [skill.name for skill in pool]
    above = {names[at]: names[number] for at, number in enumerate(parents(pool)) if number is not None}
    assert above == {"scaling": "vector-search", "tenants": "scaling"}


def test_a_collection_in_a_skill_folder_and_the_root_skill_have_no_nested_ones(tmp_path: Path) -> None:
    put(tmp_path, "whole", "The whole workspace.")
    put(tmp_path / "skills/plugin", "plugin", "A plugin.")
    put(tmp_path / "skills/plugin/skills/part", "part", "A part of the plugin.")
    assert set(parents(registry(tmp_path).list_skills())) == {None}
