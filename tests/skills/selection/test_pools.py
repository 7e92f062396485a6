"""A large collection is ranked by names and descriptions until it is indexed in the background."""

from __future__ import annotations

import math
import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.discovery import skill_file
from goalwright_skills.selection import pools
from goalwright_skills.selection.index import background, postings, skill_text, stored
from goalwright_skills.selection.ranked import RankedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

THINGS = [
    "invoices",
    "receipts",
    "kubernetes",
    "contracts",
    "recipes",
    "telescopes",
    "bicycles",
    "novels",
    "orchards",
    "vaccines",
    "bridges",
    "violins",
    "passports",
    "glaciers",
    "satellites",
    "vineyards",
    "turbines",
    "mosaics",
    "lighthouses",
    "beehives",
]
# What a process may take on a busy machine, in seconds.
LONGEST = 120.0


@pytest.fixture(autouse=True)
def small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "AT_ONCE", 5)
    monkeypatch.setattr(pools, "FEW", 2)
    monkeypatch.setattr(pools, "_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(pools, "_TIMES", 0)
    monkeypatch.setattr(stored, "SEGMENT_SKILLS", 6)
    monkeypatch.setattr(stored, "MAX_SEGMENT_SKILLS", 8)


@pytest.fixture
def many(tmp_path: Path) -> list[Skill]:
    for number, thing in enumerate(THINGS):
        body = f"Open the {thing} ledger. The codeword is zebra{number}x.\n"
        put(tmp_path / f"skills/{thing}", thing, f"Inspects and repairs {thing} for the yearly audit.", body)
    return stamped(registry(tmp_path).list_skills())


def stamped(skills: Sequence[Skill], stamp: int = 7) -> list[Skill]:
    """The skills as if their files had not changed for a while."""
    return [replace(skill, stamp=stamp) for skill in skills]


def without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(folder: Path, skills: Sequence[Skill]) -> int:
        background.want(folder, skills)
        return 0

    monkeypatch.setattr(background, "start", start)


def names(detector: RankedDetector, goal: str, skills: Sequence[Skill]) -> list[str]:
    return [selection.name for selection in detector.rank(goal, skills, 3)]


def test_unindexed_skills_are_ranked_by_description(
    tmp_path: Path, many: list[Skill], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_process(monkeypatch)
    detector = RankedDetector(tmp_path / "cache")
    assert names(detector, "repair our telescopes before the audit", many)[0] == "telescopes"
    assert detector.unindexed == len(many)
    assert "telescopes" not in names(detector, "zebra5x", many)


def test_bodies_count_once_the_segments_exist(
    tmp_path: Path, many: list[Skill], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_process(monkeypatch)
    detector = RankedDetector(tmp_path / "cache")
    names(detector, "zebra5x", many)
    assert background.index(tmp_path / "cache/segments", math.inf)
    assert len(list((tmp_path / "cache/segments").glob("*.bin"))) > 2
    for finder in (detector, RankedDetector(tmp_path / "cache")):
        assert names(finder, "the codeword zebra5x", many)[0] == THINGS[5]
        assert finder.unindexed == 0
    one = RankedDetector()
    for goal in ("repair our telescopes", "read violins and passports", "the codeword zebra5x"):
        monkeypatch.setattr(pools, "AT_ONCE", 1_000)
        whole = one.detect(goal, many)
        monkeypatch.setattr(pools, "AT_ONCE", 5)
        assert [selections.name for selections in detector.detect(goal, many)] == [
            selections.name for selections in whole
        ]


def test_only_what_changed_is_read_again(tmp_path: Path, many: list[Skill], monkeypatch: pytest.MonkeyPatch) -> None:
    without_a_process(monkeypatch)
    folder = tmp_path / "cache/segments"
    background.want(folder, many)
    background.index(folder, math.inf)
    put(tmp_path / "skills/novels", "novels", "Inspects novels.", "Now the codeword is giraffe.\n")
    changed = [
        replace(skill, stamp=8) if skill.name == "novels" else skill for skill in many if skill.name != "bridges"
    ]
    read: list[str] = []

    def noted(path: Path) -> bytes:
        read.append(str(path))
        return skill_file.read_all(path)

    monkeypatch.setattr(skill_text, "read_all", noted)
    detector = RankedDetector(tmp_path / "cache")
    assert names(detector, "the codeword giraffe", changed)[0] == "novels"
    assert detector.unindexed == 0
    assert "bridges" not in names(detector, "repair bridges", changed)
    background.want(folder, changed)
    background.index(folder, math.inf)
    assert names(RankedDetector(tmp_path / "cache"), "the codeword giraffe", changed)[0] == "novels"
    assert {path.rsplit("/", 2)[1] for path in read} == {"novels"}


def test_a_background_process_indexes_the_collection(tmp_path: Path, many: list[Skill]) -> None:
    detector = RankedDetector(tmp_path / "cache")
    until = time.monotonic() + LONGEST
    names(detector, "zebra5x", many)
    while detector.unindexed and time.monotonic() < until:
        time.sleep(0.05)
        names(detector, "zebra5x", many)
    assert detector.unindexed == 0
    assert names(detector, "the codeword zebra5x", many)[0] == THINGS[5]


def test_a_killed_process_leaves_finished_segments(
    tmp_path: Path, many: list[Skill], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache/segments"
    process = background.start(folder, many)
    assert process
    os.kill(process, signal.SIGKILL)
    until = time.monotonic() + LONGEST
    while not (ended := background.ended(process)) and time.monotonic() < until:
        time.sleep(0.01)
    assert ended
    (folder / ".goalwright-half").write_bytes(b"half a segment")
    without_a_process(monkeypatch)
    assert names(RankedDetector(tmp_path / "cache"), "repair our telescopes", many)[0] == "telescopes"
    background.work(folder)
    assert not (folder / ".goalwright-half").exists()
    assert names(RankedDetector(tmp_path / "cache"), "the codeword zebra5x", many)[0] == THINGS[5]


def test_one_process_works_in_a_folder_at_a_time(tmp_path: Path, many: list[Skill]) -> None:
    folder = tmp_path / "cache/segments"
    background.want(folder, many)
    with background.held(folder) as ours:
        assert ours
        assert background.start(folder, many) == 0
        background.work(folder)
    assert not list(folder.glob("*.bin"))


def test_broken_segments_are_ignored(tmp_path: Path, many: list[Skill], monkeypatch: pytest.MonkeyPatch) -> None:
    without_a_process(monkeypatch)
    folder = tmp_path / "cache/segments"
    background.want(folder, many)
    background.index(folder, math.inf)
    file = sorted(folder.glob("*.bin"))[0]
    data = file.read_bytes()
    for cut_at in (0, 2_100, len(data) // 2, len(data) - 8):
        file.write_bytes(data[:cut_at] + b"\xff" * (len(data) - cut_at))
        for goal in ("repair our telescopes", "repair orchards", "the codeword zebra5x"):
            assert len(names(RankedDetector(tmp_path / "cache"), goal, many)) <= 3
        background.index(folder, math.inf)


def test_skills_are_indexed_at_once_if_the_cache_is_not_writable(tmp_path: Path, many: list[Skill]) -> None:
    (tmp_path / "cache").write_text("a file")
    detector = RankedDetector(tmp_path / "cache")
    assert names(detector, "the codeword zebra5x", many)[0] == THINGS[5]
    assert detector.unindexed == 0


def test_unused_segments_are_removed(tmp_path: Path, many: list[Skill]) -> None:
    folder = tmp_path / "cache/segments"
    background.want(folder, many)
    background.index(folder, math.inf)
    background.want(folder, many[:6])
    background.index(folder, math.inf)
    (left,) = folder.glob("*.bin")
    data = postings.open_file(left)
    assert data is not None
    assert data.count == 6
