"""Skills in another skill's folder yield to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills.tree import put, registry
from weft_skills.selection.ranked import RankedDetector
from weft_skills.selection.ranking.nesting import parents

if TYPE_CHECKING:
    from pathlib import Path

    from weft_skills.skill import Skill


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    vectors = tmp_path / "skills" / "vector-search"
    put(vectors, "vector-search", "Runs a vector database: scaling, latency and memory of the cluster.")
    put(vectors / "scaling", "scaling", "Scales a vector database cluster to more nodes.")
    put(vectors / "scaling/tenants", "tenants", "Isolates tenants: quotas, payload partitions and tenant migration.")
    put(tmp_path / "skills" / "bread", "bread", "Bakes bread and cakes.")
    return registry(tmp_path).list_skills()


def test_a_nested_skill_yields_to_its_parent(pool: list[Skill]) -> None:
    found = RankedDetector().rank("How do we scale the vector database?", pool, 3)
    assert [one.name for one in found][:2] == ["vector-search", "scaling"]
    assert "scaling in its folder fits" in found[0].reason
    assert [one.name for one in RankedDetector().detect("How do we scale the vector database?", pool)] == [
        "vector-search"
    ]


def test_a_nested_skill_whose_own_words_fit_clearly_better_comes_first(pool: list[Skill]) -> None:
    found = RankedDetector().detect("Quotas and payload partitions for tenant migration", pool)
    assert found[0].name == "tenants"


def test_a_nested_skill_that_the_goal_names_comes_first(pool: list[Skill]) -> None:
    found = RankedDetector().detect("$scaling for the vector database cluster", pool)
    assert (found[0].name, found[0].score) == ("scaling", 1.0)


def test_the_nearest_skill_above_is_the_parent(pool: list[Skill]) -> None:
    names = [skill.name for skill in pool]
    above = {names[at]: names[number] for at, number in enumerate(parents(pool)) if number is not None}
    assert above == {"scaling": "vector-search", "tenants": "scaling"}


def test_a_collection_in_a_skill_folder_and_the_root_skill_have_no_nested_ones(tmp_path: Path) -> None:
    put(tmp_path, "whole", "The whole workspace.")
    put(tmp_path / "skills/plugin", "plugin", "A plugin.")
    put(tmp_path / "skills/plugin/skills/part", "part", "A part of the plugin.")
    assert set(parents(registry(tmp_path).list_skills())) == {None}
