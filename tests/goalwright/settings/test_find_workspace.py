"""The workspace of a command that was started in a subfolder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from goalwright.settings import find_workspace
from goalwright.settings.find_workspace import find, is_marked

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: a\ndescription: b\n---\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "docs" / "deep").mkdir(parents=True)
    return (tmp_path / "repository").resolve()


def below(repository: Path) -> Path:
    return find(repository / "docs" / "deep", repository.parent / "home")


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "mark", ["goalwright.toml", ".agents/journal.sqlite", "skills/a/SKILL.md", "skills/group/a/skill.yaml"]
)
def test_each_marker_makes_a_parent_folder_the_workspace(repository: Path, mark: str) -> None:
    assert below(repository) == repository / "docs" / "deep"
    write(repository / mark, SKILL)
    assert below(repository) == repository


def test_the_nearest_marked_folder_counts(repository: Path) -> None:
    write(repository / "goalwright.toml")
    write(repository / "docs" / "goalwright.toml")
    assert below(repository) == repository / "docs"


def test_skills_folder_without_a_skill_is_no_workspace(repository: Path) -> None:
    write(repository / "skills" / "package" / "__init__.py")
    write(repository / "skills" / "SKILL.md" / "a folder of that name.txt")
    assert not is_marked(repository)
    write(repository / "not skills")
    (repository / "linked").symlink_to(repository / "not skills")
    assert not is_marked(repository / "linked")


def test_the_search_for_a_skill_is_bounded(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_workspace, "_MAX_ENTRIES", 20)
    (repository / "skills" / "deep").mkdir(parents=True)
    (repository / "skills" / "deep" / "loop").symlink_to(repository / "skills")
    for number in range(30):
        (repository / "skills" / f"{number:02}").mkdir()
    write(repository / "skills" / "29" / "a" / "b" / "SKILL.md", SKILL)
    assert not is_marked(repository)


def test_workspace_outside_the_repository_is_ignored(repository: Path) -> None:
    write(repository.parent / "goalwright.toml")
    assert below(repository) == repository / "docs" / "deep"


def test_without_a_repository_the_current_folder_is_the_workspace(tmp_path: Path) -> None:
    write(tmp_path / "goalwright.toml")
    (tmp_path / "docs").mkdir()
    assert find(tmp_path / "docs", tmp_path / "home") == (tmp_path / "docs").resolve()


def test_a_worktree_or_submodule_ends_the_search(repository: Path) -> None:
    write(repository / "goalwright.toml")
    write(repository / "docs" / ".git", "gitdir: elsewhere\n")
    assert below(repository) == repository / "docs" / "deep"


def test_the_home_folder_never_counts_even_as_a_repository(repository: Path) -> None:
    write(repository / ".agents" / "skills" / "a" / "SKILL.md", SKILL)
    assert find(repository / "docs" / "deep", repository) == repository / "docs" / "deep"
    write(repository / "docs" / "goalwright.toml")
    assert find(repository / "docs" / "deep", repository) == repository / "docs"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_folder_of_another_user_is_ignored(repository: Path) -> None:
    write(repository / "goalwright.toml")
    os.chown(repository, 12_345, 12_345)
    assert below(repository) == repository / "docs" / "deep"


def test_a_link_to_a_subfolder_leads_to_the_workspace_of_its_target(repository: Path, tmp_path: Path) -> None:
    write(repository / "goalwright.toml")
    (tmp_path / "link").symlink_to(repository / "docs")
    assert find(tmp_path / "link", tmp_path / "home") == repository
