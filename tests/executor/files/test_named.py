"""The files of a workspace that a goal names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_executor.files.named import MAX_FILES, named_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    for name in ("notes.md", "my notes.txt", "data/q1.csv", ".env", "goalwright.toml", ".git/config.txt", "key.pem"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    (tmp_path / "outside.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "folder.d").mkdir()
    return root


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("Write a weekly report from notes.md.", ["notes.md"]),
        ("Summarise `notes.md`, then (data/q1.csv)!", ["notes.md", "data/q1.csv"]),
        ('Shorten "my notes.txt"', ["my notes.txt"]),
        ("Compare ./notes.md with notes.md", ["notes.md"]),
        ("根据notes.md写周报", []),  # no word of its own: a longer name is not guessed at
        ("根据 notes.md 写周报", ["notes.md"]),
        ("Write other.md about e.g. tea, version 1.2", []),
        ("Read https://example.org/notes.md", []),
        ("Mail it to ann@notes.md", []),
        ("Read ../outside.md and link.md and /etc/passwd.txt", []),
        ("Explain .env, goalwright.toml, .git/config.txt and key.pem", []),
        ("Sort folder.d", []),
        ("x" * 5000 + ".md and a\0b.md", []),
    ],
)
def test_files_are_found_by_name(workspace: Path, goal: str, names: list[str]) -> None:
    assert named_files(goal, workspace) == tuple(workspace / name for name in names)


def test_number_of_named_files_is_limited(workspace: Path) -> None:
    names = [f"{number}.md" for number in range(MAX_FILES + 3)]
    for name in names:
        (workspace / name).write_text("")
    assert [path.name for path in named_files(" ".join(names), workspace)] == names[:MAX_FILES]
