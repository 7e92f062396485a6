"""Which skills there are, which of them count, and how one is loaded."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from skills.discovery.file_stamp import RACY_NS
from skills.discovery.index import cache_folder
from skills.discovery.locations import Location
from skills.discovery.registry import Registry, expand, summary
from skills.discovery.scan import Bounds, scan
from skills.errors import BrokenSkill, UnknownSkill, UnreadableSkill
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path


def states(found: Registry) -> dict[str, str]:
    return {str(skill.path.relative_to(found.workspace)): skill.state for skill in found.list_skills(all=True)}


LOCATIONS = [
    (".agents/sys.skills", "system"),
    (".agents/skills", "workspace"),
    ("skills", "project"),
    (".skills", "project"),
    (".claude/skills", "project"),
    ("home/.config/agents/skills", "global"),
    ("home/.agents/skills", "global"),
    ("home/.claude/skills", "global"),
    ("library", "bundled"),
]


def test_the_first_location_that_has_a_name_wins(tmp_path: Path) -> None:
    for folder, _ in LOCATIONS:
        put(tmp_path / folder / "same", "same", f"From {folder}.")
    for folder, source in LOCATIONS:
        found = registry(tmp_path)
        winner = found.get("same")
        assert winner is not None
        assert (winner.description, winner.source) == (f"From {folder}.", source)
        others = [skill for skill in found.list_skills(all=True) if skill.state == "shadowed"]
        assert all(skill.reason == f"shadowed by {winner.path}" for skill in others)
        winner.path.unlink()
    assert registry(tmp_path).list_skills(all=True) == []


def test_the_xdg_folder_replaces_the_usual_one(tmp_path: Path) -> None:
    put(tmp_path / "xdg/agents/skills/a", "a")
    put(tmp_path / "home/.config/agents/skills/b", "b")
    found = registry(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert [skill.name for skill in found.list_skills()] == ["a"]


def test_a_lone_skill_md_in_the_workspace_need_not_match_its_folder(tmp_path: Path) -> None:
    put(tmp_path, "lone")
    found = registry(tmp_path)
    assert [(skill.name, skill.source) for skill in found.list_skills()] == [("lone", "root")]
    assert found.warnings == []


def test_of_two_in_one_location_the_last_in_path_order_is_kept_with_a_warning_naming_both(tmp_path: Path) -> None:
    first = put(tmp_path / "skills/a/same", "same")
    last = put(tmp_path / "skills/b/same", "same")
    found = registry(tmp_path)
    assert found.get("same").path == last  # type: ignore[union-attr]
    (shadowed,) = [skill for skill in found.list_skills(all=True) if skill.state == "shadowed"]
    assert shadowed.path == first
    assert str(last) in (shadowed.reason or "")
    (warning,) = found.warnings
    assert str(first) in str(warning)
    assert str(last) in str(warning)


def test_names_that_collide_as_slugs_count_as_one(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "My Skill")
    put(tmp_path / "skills/b", "my-skill")
    assert sorted(states(registry(tmp_path)).values()) == ["active", "shadowed"]


def test_nested_skills_and_folders_without_one_are_fine(tmp_path: Path) -> None:
    put(tmp_path / "skills/outer", "outer")
    put(tmp_path / "skills/outer/deep/er/inner", "inner")
    (tmp_path / "skills/nothing").mkdir()
    found = registry(tmp_path)
    assert [skill.name for skill in found.list_skills()] == ["outer", "inner"]
    assert found.warnings == []


def test_a_switch_hides_a_skill_and_does_not_uncover_a_shadowed_one(tmp_path: Path) -> None:
    put(tmp_path / ".agents/skills/code-review", "code-review")
    put(tmp_path / "skills/code-review", "code-review")
    found = registry(tmp_path, {"SKILL_CODE_REVIEW_ENABLED": "False"})
    assert found.list_skills() == []
    assert sorted(states(found).values()) == ["disabled", "shadowed"]
    with pytest.raises(UnknownSkill, match="SKILL_CODE_REVIEW_ENABLED"):
        found.load_content("code-review")


def test_strict_drops_odd_names_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "Odd Name")
    put(tmp_path / "skills/b", "unlike")
    put(tmp_path / "skills/c", "c")
    found = registry(tmp_path, strict=True)
    assert [skill.name for skill in found.list_skills()] == ["c"]
    reasons = [skill.reason or "" for skill in found.list_skills(all=True) if skill.state == "broken"]
    assert len(reasons) == 2
    for said in (*reasons, *map(str, found.warnings)):
        assert "it is ignored" in said
        assert "loaded as" not in said
    lenient = registry(tmp_path)
    assert any("it is loaded as 'odd-name'" in str(problem) for problem in lenient.warnings)


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_the_system_refuses_is_reported(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a").chmod(0)
    (tmp_path / "skills/closed").mkdir(mode=0)
    found = registry(tmp_path)
    assert [skill.state for skill in found.list_skills(all=True)] == ["broken"]
    assert {problem.rule for problem in found.warnings} == {"unreadable", "folder"}


def test_links_are_followed_once_and_never_in_circles(tmp_path: Path) -> None:
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


def test_refresh_sees_edits_additions_and_deletions_at_any_depth(tmp_path: Path) -> None:
    path = put(tmp_path / "skills/a/b/c", "c", "Old.")
    found = registry(tmp_path)
    found.scan()
    put(tmp_path / "skills/a/b/c", "c", "New.")
    assert found.refresh()
    assert found.get("c").description == "New."  # type: ignore[union-attr]
    put(tmp_path / "skills/a/b/d", "d")
    found.refresh()
    assert found.get("d") is not None
    path.unlink()
    found.refresh()
    assert found.get("c") is None
    put(tmp_path / ".agents/skills/e", "e")
    found.refresh()
    assert found.get("e") is not None


def test_refresh_can_be_switched_off(tmp_path: Path) -> None:
    found = registry(tmp_path, {"SKILLS_REFRESH_ON_CALL": "false"})
    found.scan()
    put(tmp_path / "skills/a", "a")
    assert not found.refresh()
    assert found.list_skills() == []


def test_the_index_remembers_and_a_change_is_seen_through_it(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", "Old.")
    cache = tmp_path / "cache"

    def fresh() -> Registry:
        return Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")

    before = fresh().list_skills(all=True)
    assert (cache / "listing.json").exists()
    assert fresh().list_skills(all=True) == before
    put(tmp_path / "skills/a", "a", "New.")
    put(tmp_path / "skills/b", "b")
    assert [skill.description for skill in fresh().list_skills()] == ["New.", "Does things."]


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[]", b"null", b'{"version": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_broken_index_is_rebuilt_silently(tmp_path: Path, rubbish: bytes) -> None:
    put(tmp_path / "skills/a", "a")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "listing.json").write_bytes(rubbish)
    found = Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")
    assert [skill.name for skill in found.list_skills()] == ["a"]
    assert json.loads((cache / "listing.json").read_bytes())["files"][0]


def test_a_tampered_index_with_wrong_types_is_not_used(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    cache = tmp_path / "cache"

    def fresh() -> Registry:
        return Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")

    time.sleep(2 * RACY_NS / 1e9)  # until then the file's stamp is not trusted, and the index not asked
    fresh().scan()
    document = json.loads((cache / "listing.json").read_bytes())
    good: list[object] = [[0], ["a"], ["Other."], ["context"], ["active"], [None], [None], [{}]]
    wrongs: list[tuple[int, object]] = [(0, [7]), (0, [None]), (1, []), (2, [1]), (3, ["evil"]), (4, "x"), (7, [[]])]
    for column, wrong in wrongs:
        document["skills"] = [wrong if number == column else value for number, value in enumerate(good)]
        (cache / "listing.json").write_text(json.dumps(document))
        assert [skill.description for skill in fresh().list_skills()] == ["Does things."]


def test_each_workspace_has_a_cache_of_its_own_however_long_its_path(tmp_path: Path) -> None:
    paths = [tmp_path / "a-b", tmp_path / "a" / "b", tmp_path / "a%2Fb", tmp_path / ("x" * 250), tmp_path / ("x" * 251)]
    folders = [cache_folder(path) for path in paths]
    assert len(set(folders)) == len(paths)
    assert all(len(os.fsencode(folder.name)) <= 200 for folder in folders)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    (tmp_path / "cache").write_text("a file is in the way")
    found = Registry(tmp_path, env={}, home=tmp_path / "home", cache=tmp_path / "cache", library=tmp_path / "library")
    assert [skill.name for skill in found.list_skills()] == ["a"]


def test_content_names_its_folder_and_fills_arguments(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", body="Review $ARGUMENTS now, $ARGUMENTS_X not.\n")
    put(tmp_path / "skills/b", "b", body="Review.\n")
    found = registry(tmp_path)
    head = f"Base directory for this skill: {tmp_path}/skills"
    assert found.load_content("a", r"\1 $1 me") == f"{head}/a\n\nReview \\1 $1 me now, $ARGUMENTS_X not.\n"
    assert found.load_content("a") == f"{head}/a\n\nReview  now, $ARGUMENTS_X not.\n"
    assert found.load_content("b") == f"{head}/b\n\nReview.\n"
    assert found.load_content("b", "me") == f"{head}/b\n\nReview.\n\nARGUMENTS: me\n"


def test_arguments_are_not_expanded_twice(tmp_path: Path) -> None:
    assert expand("$ARGUMENTS", tmp_path, "$ARGUMENTS").endswith("\n\n$ARGUMENTS")


def test_an_unknown_name_lists_the_nearest_known_ones(tmp_path: Path) -> None:
    for name in ("code-review", "code-style", *(f"other{number}" for number in range(20))):
        put(tmp_path / f"skills/{name}", name)
    with pytest.raises(UnknownSkill, match=r"known skills: code-review, code-style, .* and 12 more"):
        registry(tmp_path).load_content("code-reviw")


def test_loading_what_no_longer_parses_or_reads_is_a_typed_error(tmp_path: Path) -> None:
    path = put(tmp_path / "skills/a", "a")
    found = registry(tmp_path, {"SKILLS_REFRESH_ON_CALL": "false"})
    found.scan()
    path.write_text("rubbish")
    with pytest.raises(BrokenSkill, match="no longer parses"):
        found.load_content("a")
    path.unlink()
    with pytest.raises(UnreadableSkill, match="cannot be read"):
        found.load_content("a")
    put(tmp_path / "skills/a", "a", description="")
    with pytest.raises(BrokenSkill, match="no description"):
        registry(tmp_path).load_content("a")


def test_many_warnings_become_one_line(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path / f"skills/s{number}", "Odd")
    warnings = registry(tmp_path).warnings
    assert len(summary(warnings)) == 1
    assert len(summary(warnings[:2])) == 2
    assert "SKILL.md:2: name 'Odd'" in summary(warnings[:2])[0]


def test_a_tool_that_is_left_out_has_a_row_beside_its_neighbours(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "demo"
    folder.mkdir(parents=True)
    (folder / "main.py").touch()
    tools = [{"name": "demo_good"}, {"name": "demo_gone", "entry": "gone.py"}, {"name": "other_run"}, "text"]
    shared = {"description": "Run.", "runtime": "python", "entry": "main.py"}
    (folder / "skill.yaml").write_text(json.dumps(shared | {"tools": tools}), encoding="utf-8")
    found = registry(tmp_path)
    assert [row.name for row in found.list_skills()] == ["demo_good"]
    broken = {row.name: row.reason or "" for row in found.list_skills(all=True) if row.state == "broken"}
    assert set(broken) == {"demo_gone", "other_run", "demo"}
    assert "'gone.py' does not exist" in broken["demo_gone"]
    assert "demo_" in broken["other_run"]


def test_a_tool_counts_as_soon_as_its_program_is_there_and_no_longer(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "demo"
    folder.mkdir(parents=True)
    document = {"name": "demo_run", "description": "Run.", "runtime": "python", "entry": "src/main.py"}
    (folder / "skill.yaml").write_text(json.dumps(document), encoding="utf-8")
    program = folder / "src" / "main.py"
    program.parent.mkdir()
    for present in (False, True, False):
        program.touch() if present else program.unlink(missing_ok=True)
        time.sleep(RACY_NS * 2 / 1e9)
        cached = Registry(tmp_path, env={}, home=tmp_path / "home", library=tmp_path / "none", cache=tmp_path / "cache")
        assert [row.state for row in cached.list_skills(all=True)] == ["active" if present else "broken"]


@pytest.mark.parametrize("above", ["\n" * 9, "<!-- licence -->\n\n", "\ufeff", "\ufeff\n\n\n\n"])
def test_what_stands_above_the_frontmatter_does_not_hide_it_from_discovery(tmp_path: Path, above: str) -> None:
    put(tmp_path / "skills/a", "a", "Reads.", "Body.\n")
    path = tmp_path / "skills/a/SKILL.md"
    path.write_text(above + path.read_text(encoding="utf-8"), encoding="utf-8")
    found = registry(tmp_path)
    assert [(skill.name, skill.description) for skill in found.list_skills()] == [("a", "Reads.")]
    assert found.load_content("a").endswith("Body.\n")
