"""Segments of a large collection keep their starts while skills change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.index import stored
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "SEGMENT_SKILLS", 10)
    monkeypatch.setattr(stored, "MAX_SEGMENT_SKILLS", 20)


def skills(*numbers: int) -> list[Skill]:
    return [Skill(f"skill-{number:03}", "", f"/skills/{number:03}/SKILL.md", "project") for number in numbers]


def sizes(many: list[Skill], starts: list[str]) -> list[int]:
    return [len(group) for group in stored.split_by_start(many, starts)]


def test_a_collection_is_divided_evenly_in_path_order() -> None:
    many = skills(*range(45))
    starts = stored.segment_starts(many, [""])
    assert sizes(many, starts) == [9, 9, 9, 9, 9]
    assert [skill for group in stored.split_by_start(many, starts) for skill in group] == many


def test_segment_starts_are_stable() -> None:
    starts = stored.segment_starts(skills(*range(45)), [""])
    assert stored.segment_starts(skills(*range(3, 50)), starts) == starts


def test_a_segment_that_grew_is_split_and_small_ones_are_joined() -> None:
    starts = stored.segment_starts(skills(*range(45)), [""])
    grown = [*skills(*range(45)), *(skill for skill in skills(*range(45, 70)))]
    assert starts == stored.segment_starts(grown, starts)[: len(starts)]
    assert max(sizes(grown, stored.segment_starts(grown, starts))) <= 20
    few = skills(0, 1, 9, 10, 40)
    assert stored.segment_starts(few, starts) == [""]


def test_a_corrupt_manifest_means_one_segment(tmp_path: Path) -> None:
    stored.manifest(tmp_path).write_bytes(stored.manifest_bytes(["", "/b", "/c"]))
    assert stored.read_starts(tmp_path) == ["", "/b", "/c"]
    for rubbish in (b"", b"[]", b'{"version": 1, "starts": ["", "b", "a"]}', b'{"version": 9, "starts": ["", "b"]}'):
        stored.manifest(tmp_path).write_bytes(rubbish)
        assert stored.read_starts(tmp_path) == [""]
