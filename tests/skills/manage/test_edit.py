"""One file of a skill is read and written: inside its folder, as text, and only if nobody changed it meanwhile."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.discovery.registry import Registry
from goalwright_skills.errors import InputError, UnknownSkill
from goalwright_skills.manage import edit, install
from goalwright_skills.safe_files import UnsafePath

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    install.add(tmp_path, "notes", "Write notes from a meeting.")
    return Registry(tmp_path)


@pytest.fixture
def folder(registry: Registry) -> Path:
    return registry.workspace / ".agents" / "skills" / "notes"


def seen(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_changed_description_is_seen_at_once(registry: Registry, folder: Path) -> None:
    before = edit.read(registry.get("notes"), "SKILL.md")  # type: ignore[arg-type]
    text = before.text.replace("from a meeting", "from a call")
    written = edit.write(registry, "notes", "SKILL.md", text, before.sha256)
    assert written == edit.SkillText(text, seen(folder / "SKILL.md"))
    assert (found := registry.get("notes")) is not None
    assert found.description == "Write notes from a call."
    assert [path.name for path in folder.iterdir()] == ["SKILL.md"]


def test_a_file_that_changed_meanwhile_is_not_overwritten(registry: Registry, folder: Path) -> None:
    before = seen(folder / "SKILL.md")
    (folder / "SKILL.md").write_text("---\nname: notes\ndescription: Mine.\n---\n", encoding="utf-8")
    with pytest.raises(edit.FileChanged, match="has changed since it was read"):
        edit.write(registry, "notes", "SKILL.md", "theirs", before)
    with pytest.raises(edit.FileChanged):
        edit.write(registry, "notes", "SKILL.md", "as if it were new", "")
    with pytest.raises(edit.FileChanged):
        edit.write(registry, "notes", "gone.md", "as if it were old", before)
    assert "Mine." in (folder / "SKILL.md").read_text(encoding="utf-8")


def test_write_creates_folders_and_keeps_the_executable_bit(registry: Registry, folder: Path) -> None:
    edit.write(registry, "notes", "scripts/run.sh", "echo", "")
    (folder / "scripts" / "run.sh").chmod(0o755)
    edit.write(registry, "notes", "scripts/run.sh", "echo 2", seen(folder / "scripts" / "run.sh"))
    assert os.access(folder / "scripts" / "run.sh", os.X_OK)
    assert (folder / "scripts" / "run.sh").read_text(encoding="utf-8") == "echo 2"


@pytest.mark.parametrize(
    "path", ["../other.md", "/etc/passwd", "a/../../x", "", ".", "..", ".git/hooks/x", "a\\b", "a\0b"]
)
def test_a_path_outside_is_refused(registry: Registry, path: str) -> None:
    with pytest.raises(InputError):
        edit.write(registry, "notes", path, "x", "")
    with pytest.raises(InputError):
        edit.read(registry.get("notes"), path)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["link.md", "inside/file.md"])
def test_a_link_is_neither_read_nor_written_through(
    registry: Registry, folder: Path, tmp_path: Path, place: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("theirs", encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "file.md")
    (folder / "inside").symlink_to(outside)
    with pytest.raises(UnsafePath):
        edit.write(registry, "notes", place, "x", seen(outside / "file.md"))
    with pytest.raises(UnsafePath):
        edit.read(registry.get("notes"), place)  # type: ignore[arg-type]
    assert (outside / "file.md").read_text(encoding="utf-8") == "theirs"


def test_a_skill_behind_a_link_is_not_written(registry: Registry, tmp_path: Path) -> None:
    real = tmp_path / "real"
    (registry.workspace / ".agents" / "skills" / "notes").rename(real)
    (registry.workspace / ".agents" / "skills" / "notes").symlink_to(real)
    registry.scan()
    with pytest.raises(UnsafePath):
        edit.write(registry, "notes", "SKILL.md", "x", seen(real / "SKILL.md"))


def test_only_text_of_the_workspaces_own_skills_is_written(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only text"):
        edit.write(registry, "notes", "a.md", "a\0b", "")
    with pytest.raises(InputError, match="only text"):
        edit.write(registry, "notes", "a.md", "x" * (edit.LARGEST + 1), "")
    bundled = next(skill for skill in registry.list_skills() if skill.source == "bundled")
    with pytest.raises(InputError, match="read-only"):
        edit.write(registry, bundled.name, "SKILL.md", "x", "")
    with pytest.raises(UnknownSkill):
        edit.write(registry, "none-such", "SKILL.md", "x", "")


def test_reading_a_binary_or_missing_file_fails(registry: Registry, folder: Path) -> None:
    skill = registry.get("notes")
    assert skill is not None
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    (folder / "nul.txt").write_bytes(b"a\0b")
    with pytest.raises(InputError, match="not UTF-8"):
        edit.read(skill, "picture.png")
    with pytest.raises(InputError, match="binary"):
        edit.read(skill, "nul.txt")
    with pytest.raises(edit.UnknownFile):
        edit.read(skill, "none.md")


def test_files_are_renamed_and_deleted_if_unchanged(registry: Registry, folder: Path) -> None:
    edit.write(registry, "notes", "run.sh", "echo hi\n", "")
    (folder / "run.sh").chmod(0o755)
    tag = seen(folder / "run.sh")
    edit.rename(registry, "notes", "run.sh", "bin/go.sh", tag)
    assert not (folder / "run.sh").exists()
    assert (folder / "bin" / "go.sh").read_text(encoding="utf-8") == "echo hi\n"
    assert os.access(folder / "bin" / "go.sh", os.X_OK)
    edit.write(registry, "notes", "other.md", "x", "")
    with pytest.raises(edit.FileChanged):
        edit.rename(registry, "notes", "bin/go.sh", "other.md", tag)  # it exists already
    with pytest.raises(edit.FileChanged):
        edit.remove(registry, "notes", "bin/go.sh", "0" * 64)
    edit.remove(registry, "notes", "bin/go.sh", tag)
    assert not (folder / "bin" / "go.sh").exists()
    for path in ("../x", "bin/../../x", "/etc/passwd", ".git/config"):
        with pytest.raises(InputError):
            edit.rename(registry, "notes", "other.md", path, seen(folder / "other.md"))


def test_the_main_file_of_a_skill_cannot_be_removed(registry: Registry, folder: Path) -> None:
    tag = seen(folder / "SKILL.md")
    with pytest.raises(InputError, match=r"SKILL\.md makes 'notes' a skill"):
        edit.remove(registry, "notes", "SKILL.md", tag)
    with pytest.raises(InputError, match="makes"):
        edit.rename(registry, "notes", "SKILL.md", "OLD.md", tag)
    with pytest.raises(edit.UnknownFile):
        edit.remove(registry, "notes", "gone.md", "")
