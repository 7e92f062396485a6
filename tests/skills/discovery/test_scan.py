"""Scanning the locations: hostile files, links and bounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goalwright_skills.discovery.locations import Location
from goalwright_skills.discovery.scan import Bounds, scan
from tests.needs import needs_non_root
from tests.skills.tree import put, registry, states

if TYPE_CHECKING:
    from pathlib import Path


def test_hostile_files_do_not_stop_a_scan(tmp_path: Path) -> None:
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
def test_a_file_without_read_permission_is_reported(tmp_path: Path) -> None:
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


def test_a_link_to_many_folders_with_few_skills_is_abandoned_with_a_warning(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"system/lib/f{number:02}").mkdir(parents=True)
    (tmp_path / "system/lib/f01/more").symlink_to(tmp_path / "other")
    (tmp_path / "other/deep").mkdir(parents=True)
    put(tmp_path / "skills/real", "real")
    for number in range(30):
        put(tmp_path / f"collection/s{number}/one", f"s{number}")
    (tmp_path / "skills/a").symlink_to(tmp_path / "system")
    (tmp_path / "skills/b").symlink_to(tmp_path / "collection")
    bounds = Bounds(linked=20, linked_per_skill=5)

    tree = scan([Location(tmp_path / "skills", "project")], ["SKILL.md"], bounds)

    assert len(tree.files) == 31, "a link to skills is followed to its end"
    (problem,) = tree.problems
    assert problem.path == tmp_path / "skills/a"
    assert f"it leads to {tmp_path / 'system'}, with at least 20 folders and 0 skills" in problem.what
    assert not any("other" in path or "more/deep" in path for path in tree.watched), "nor are links behind it followed"


def test_a_location_that_is_a_link_itself_is_bounded_too(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"system/f{number}").mkdir(parents=True)
    (tmp_path / "skills").symlink_to(tmp_path / "system")

    tree = scan([Location(tmp_path / "skills", "project")], ["SKILL.md"], Bounds(linked=20))

    assert [problem.path for problem in tree.problems] == [tmp_path / "skills"]
    assert len(tree.watched) < 30
