"""Which skills there are, which are active, and how one is loaded."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.discovery.file_stamp import RACY_NS
from goalwright_skills.discovery.registry import Registry, expand, summary
from goalwright_skills.discovery.scan import Tree
from goalwright_skills.errors import BrokenSkill, UnknownSkill, UnreadableSkill
from tests.skills.tree import put, registry, states

if TYPE_CHECKING:
    from pathlib import Path


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


def test_the_first_location_with_a_name_wins(tmp_path: Path) -> None:
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


def test_the_last_of_two_duplicates_in_a_location_is_kept_with_a_warning(tmp_path: Path) -> None:
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


def test_names_with_the_same_slug_are_duplicates(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "My Skill")
    put(tmp_path / "skills/b", "my-skill")
    assert sorted(states(registry(tmp_path)).values()) == ["active", "shadowed"]


def test_nested_skills_are_found_and_other_folders_ignored(tmp_path: Path) -> None:
    put(tmp_path / "skills/outer", "outer")
    put(tmp_path / "skills/outer/deep/er/inner", "inner")
    (tmp_path / "skills/nothing").mkdir()
    found = registry(tmp_path)
    assert [skill.name for skill in found.list_skills()] == ["outer", "inner"]
    assert found.warnings == []


def test_a_disabled_skill_still_shadows_others(tmp_path: Path) -> None:
    put(tmp_path / ".agents/skills/code-review", "code-review")
    put(tmp_path / "skills/code-review", "code-review")
    found = registry(tmp_path, {"SKILL_CODE_REVIEW_ENABLED": "False"})
    assert found.list_skills() == []
    assert sorted(states(found).values()) == ["disabled", "shadowed"]
    with pytest.raises(UnknownSkill, match="SKILL_CODE_REVIEW_ENABLED"):
        found.load_content("code-review")


def test_strict_ignores_invalid_names_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "Odd Name")
    put(tmp_path / "skills/b", "unlike")
    put(tmp_path / "skills/c", "c")
    found = registry(tmp_path, strict=True)
    assert [skill.name for skill in found.list_skills()] == ["c"]
    reasons = [skill.reason or "" for skill in found.list_skills(all=True) if skill.state == "broken"]
    assert len(reasons) == 2
    for message in (*reasons, *map(str, found.warnings)):
        assert "it is ignored" in message
        assert "loaded as" not in message
    lenient = registry(tmp_path)
    assert any("it is loaded as 'odd-name'" in str(problem) for problem in lenient.warnings)


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


def test_loaded_content_names_its_folder_and_contains_the_arguments(tmp_path: Path) -> None:
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


def test_loading_a_broken_or_unreadable_skill_raises_typed_errors(tmp_path: Path) -> None:
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


def test_summary_counts_many_warnings_in_one_line(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path / f"skills/s{number}", "Odd")
    warnings = registry(tmp_path).warnings
    assert len(summary(warnings)) == 1
    assert len(summary(warnings[:2])) == 2
    assert "SKILL.md:2: name 'Odd'" in summary(warnings[:2])[0]


def test_a_broken_tool_is_listed_with_the_other_tools_of_its_file(tmp_path: Path) -> None:
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


def test_a_tool_is_active_only_while_its_program_exists(tmp_path: Path) -> None:
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
def test_text_above_the_frontmatter_does_not_hide_it_from_discovery(tmp_path: Path, above: str) -> None:
    put(tmp_path / "skills/a", "a", "Reads.", "Body.\n")
    path = tmp_path / "skills/a/SKILL.md"
    path.write_text(above + path.read_text(encoding="utf-8"), encoding="utf-8")
    found = registry(tmp_path)
    assert [(skill.name, skill.description) for skill in found.list_skills()] == [("a", "Reads.")]
    assert found.load_content("a").endswith("Body.\n")


def test_a_shared_registry_is_checked_rarely_but_detects_changes(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    found = registry(tmp_path)
    found.share()
    found.refresh()
    checks = 0
    assert found._tree is not None
    unchanged = type(found._tree).unchanged

    def counted(tree: Tree) -> bool:
        nonlocal checks
        checks += 1
        return unchanged(tree)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tree, "unchanged", counted)
        for _ in range(1000):
            found.refresh()
        assert checks < 500
        put(tmp_path / "skills/b", "b")
        end = time.monotonic() + 60
        while not found.refresh():
            assert time.monotonic() < end, "the new skill was never seen"
    assert [skill.name for skill in found.list_skills()] == ["a", "b"]


def test_the_version_only_changes_with_the_skills(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    found = registry(tmp_path, {"SKILLS_REFRESH_ON_CALL": "false"})
    found.list_skills()
    before = found.version
    found.refresh()
    found.list_skills(all=True)
    assert found.version == before
    put(tmp_path / "skills/b", "b")
    found.scan()
    assert found.version == before + 1
