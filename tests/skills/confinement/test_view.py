"""The view of a folder: hidden names and the visible paths beside them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goalwright_skills.confinement.view import Views, scan

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def test_folder_without_hidden_names_is_whole(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "b/c.txt")
    assert scan(str(tmp_path)).whole


def test_hidden_names_and_the_paths_beside_them(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "b/c.txt", "d/e/.env", "d/e/f.txt", "d/g/h.txt", ".git/config", "d/k.PEM")
    (tmp_path / "link").symlink_to(".git")
    view = scan(str(tmp_path))
    assert set(view.folders) == {".git"}
    assert set(view.files) == {"d/e/.env", "d/k.PEM"}
    assert set(view.beside) == {"a.txt", "b/", "d/e/f.txt", "d/g/"}


def test_hard_link_to_a_hidden_file_is_hidden(tmp_path: Path) -> None:
    put(tmp_path, ".env", "b/c.txt")
    os.link(tmp_path / ".env", tmp_path / "b" / "notes.txt")
    assert set(scan(str(tmp_path)).files) == {".env", "b/notes.txt"}


def test_hard_links_to_files_in_hidden_folders_are_hidden(tmp_path: Path) -> None:
    put(tmp_path, ".git/objects/1", ".agents/runs/r/changes/2", ".agents/skills/a/SKILL.md", "b/c.txt")
    os.link(tmp_path / ".git/objects/1", tmp_path / "b" / "one.txt")
    os.link(tmp_path / ".agents/runs/r/changes/2", tmp_path / "two.txt")
    os.link(tmp_path / ".agents/skills/a/SKILL.md", tmp_path / "shown.md")
    assert set(scan(str(tmp_path)).files) == {"b/one.txt", "two.txt"}


def test_folders_beyond_the_limit_are_hidden(tmp_path: Path) -> None:
    put(tmp_path, *(f"a/{n}.txt" for n in range(10)), "b/c/.env", "d.txt")
    view = scan(str(tmp_path), limit=5)
    assert "b/c" in view.folders
    assert "d.txt" in view.beside


def test_view_is_cached_until_the_folder_changes(tmp_path: Path) -> None:
    views = Views()
    put(tmp_path, "a.txt")
    assert not views.knows([tmp_path])
    first = views.of(tmp_path)
    assert views.knows([tmp_path])
    assert views.of(tmp_path) is first
    put(tmp_path, ".env")
    assert views.of(tmp_path).files == (".env",)
