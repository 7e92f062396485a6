"""Trust is kept by content: what changes asks again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills.programs.trust import Trust, fingerprint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "demo"
    path.mkdir()
    (path / "skill.yaml").write_text("name: demo_run")
    (path / "main.py").write_text("print(1)")
    return path


def test_a_new_tool_is_not_trusted_until_the_user_says_so(tmp_path: Path, folder: Path) -> None:
    trust = Trust(tmp_path / "state" / "trust.json")
    assert not trust.is_trusted(folder, "workspace")
    trust.trust(folder)
    assert Trust(trust.path).is_trusted(folder, "workspace")


@pytest.mark.parametrize("source", ["bundled", "global"])
def test_what_ships_or_is_the_users_own_is_trusted(tmp_path: Path, folder: Path, source: str) -> None:
    assert Trust(tmp_path / "trust.json").is_trusted(folder, source)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["edit", "add", "remove", "mode", "rename", "link"])
def test_a_changed_program_asks_again(tmp_path: Path, folder: Path, change: str) -> None:
    outside = tmp_path / "shared.py"
    outside.write_text("a")
    (folder / "shared.py").symlink_to(outside)
    trust = Trust(tmp_path / "trust.json")
    trust.trust(folder)
    match change:
        case "edit":
            (folder / "main.py").write_text("print(2)")
        case "add":
            (folder / "lib").mkdir()
            (folder / "lib" / "new.py").touch()
        case "remove":
            (folder / "main.py").unlink()
        case "mode":
            (folder / "main.py").chmod(0o755)
        case "rename":
            (folder / "main.py").rename(folder / "other.py")
        case "link":
            outside.write_text("b")
    assert not trust.is_trusted(folder, "project")


def test_a_loop_of_links_ends(folder: Path) -> None:
    (folder / "self").symlink_to(folder)
    assert len(fingerprint(folder)) == 64


def test_a_workspace_is_trusted_with_its_settings_as_they_are(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "weft.toml").write_text("a = 1")
    assert not trust.trusts_workspace(workspace)
    trust.trust_workspace(workspace)
    assert trust.trusts_workspace(workspace)
    (workspace / "weft.toml").write_text("a = 2")
    assert not trust.trusts_workspace(workspace)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"tools": 3}'])
def test_a_broken_file_trusts_nothing(tmp_path: Path, folder: Path, content: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(content)
    assert not Trust(path).is_trusted(folder, "workspace")
    Trust(path).trust(folder)
    assert Trust(path).is_trusted(folder, "workspace")
