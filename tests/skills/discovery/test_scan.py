"""Scanning the locations: hostile files, links and bounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.needs import needs_non_root
from tests.skills.tree import put, registry, states
from weft_skills.discovery.locations import Location
from weft_skills.discovery.scan import Bounds, scan

if TYPE_CHECKING:
    from pathlib import Path


def test_hostile_files_never_stop_the_rest(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root / "good", "good")
    (root / "none").mkdir()
    (root / "none/SKILL.md").write_text("no frontmatter")
    (root / "pipe").mkdir()
    os.mkfifo(root / "pipe/SKILL.md")
    (root / "folder/SKILL.md").mkdir(parents=True)
    (root / "bytes").mkdir()
    (root / "bytes/SKILL.md").write_bytes(bytes(range(256)) * 100)
    (root / "huge").mkdir()
    with (root / "huge/SKILL.md").open("wb") as file:
        file.write(b"---\nname: huge\ndescription: x\n---\n")
        file.truncate(30 * 1024 * 1024)
    (root / "dangling").mkdir()
    (root / "dangling/SKILL.md").symlink_to(tmp_path / "nowhere")
    found = registry(tmp_path)
    assert [skill.name for skill in found.list_skills()] == ["good"]
    broken = {skill.base_dir.name: skill.reason for skill in found.list_skills(all=True) if skill.state == "broken"}
    assert broken.keys() == {"none", "pipe", "folder", "bytes", "huge"}
    assert len(found.warnings) == 5


@needs_non_root
def test_a_file_the_operating_system_denies_is_reported(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a").chmod(0)
    (tmp_path / "skills/closed").mkdir(mode=0)
    found = registry(tmp_path)
    assert [skill.state for skill in found.list_skills(all=True)] == ["broken"]
    assert {problem.rule for problem in found.warnings} == {"unreadable", "folder"}


def test_links_are_followed_once_and_never_in_a_cycle(tmp_path: Path) -> None:
    put(tmp_path / "skills/real", "real")
    put(tmp_path / "elsewhere/far", "far")
    (tmp_path / "skills/a-link").symlink_to(tmp_path / "skills/real")
    (tmp_path / "skills/real/up").symlink_to(tmp_path)
    (tmp_path / "skills/real/self").symlink_to(tmp_path / "skills/real")
    (tmp_path / "skills/out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "skills/out2").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "skills")
    (tmp_path / "skills/file").mkdir()
    (tmp_path / "skills/file/SKILL.md").symlink_to(tmp_path / "skills/real/SKILL.md")
    assert states(registry(tmp_path)) == {"skills/out/far/SKILL.md": "active", "skills/real/SKILL.md": "active"}


def test_a_location_that_links_to_another_is_seen_once(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/skills").symlink_to(tmp_path / "skills")
    assert states(registry(tmp_path)) == {"skills/a/SKILL.md": "active"}


def test_bounds_stop_a_scan_with_one_warning_each(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path / f"s{number}", f"s{number}")
    put(tmp_path / "a/b/c/d", "deep")
    place = [Location(tmp_path, "project")]
    few = scan(place, ["SKILL.md"], Bounds(skills=3))
    assert len(few.files) == 3
    assert [problem.rule for problem in few.problems] == ["bound"]
    flat = scan(place, ["SKILL.md"], Bounds(depth=2))
    assert len(flat.files) == 5
    assert "2 levels" in flat.problems[0].what
    assert Bounds().skills >= 20_000
    assert Bounds().depth >= 12
