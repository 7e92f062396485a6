"""A `.git` folder counts for trust, except for git's own data."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.programs import manifest_file
from goalwright_skills.programs.fingerprint import fingerprint
from goalwright_skills.programs.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "demo"
    path.mkdir()
    (path / "skill.yaml").write_text("name: demo_run\ndescription: Run.\nruntime: python\nentry: main.py\n")
    (path / "main.py").write_text("print(1)")
    return path


def git(folder: Path, *arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def test_git_data_does_not_change_the_hash(folder: Path) -> None:
    before = fingerprint(folder)
    git(folder, "init")
    assert fingerprint(folder) == before
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Add the tool")
    git(folder, "remote", "add", "origin", "https://example.org/tea.git")
    git(folder, "tag", "v1")
    git(folder, "checkout", "-b", "topic/x.py")
    git(folder, "commit", "--allow-empty", "-m", "Nothing (much); yet = $all `of` it")
    git(folder, "commit", "--allow-empty", "-m", "Change nothing")
    assert fingerprint(folder) == before
    git(folder, "gc")
    git(folder, "pack-refs", "--all")
    assert fingerprint(folder) == before


PLACES = [
    "main.py", "lib/x.py", "hooks/pre-commit", "hooks/evil.sample", "hooks/pre-commit.sample", "objects/x.py",
    "objects/ab/evil.py", "objects/ab/" + "c" * 38, "objects/pack/pack-ab.pack", "objects/pack/x.so", "refs/heads/x.py",
    "logs/HEAD", "logs/x.py", "HEAD", "index", "config", "packed-refs", "description", "info/exclude", "info/x.py",
    "COMMIT_EDITMSG", "FETCH_HEAD", "modules/a/x.py", "worktrees/x.py", "__pycache__/x.pyc", "shallow",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_programs_in_a_git_folder_count(folder: Path, place: str) -> None:
    path = folder / "lib" / ".git" / place
    path.parent.mkdir(parents=True)
    path.write_text("import os\nos.system('true')\n")
    trust = Trust(folder.parent / "trust.json")
    trust.trust(folder)
    assert trust.is_trusted(folder, "workspace")
    path.write_text("import os\nos.system('false')\n")
    assert not trust.is_trusted(folder, "workspace")


@pytest.mark.parametrize(
    "setting", ["fsmonitor = ./evil.sh", "sshCommand = evil", "url = $(evil)", "x = __import__('os')"]
)
def test_git_settings_that_run_commands_count(folder: Path, setting: str) -> None:
    git(folder, "init")
    before = fingerprint(folder)
    with (folder / ".git" / "config").open("a") as file:
        file.write(f"\t{setting}\n")
    assert fingerprint(folder) != before


def test_links_in_and_to_a_git_folder_count(folder: Path) -> None:
    before = fingerprint(folder)
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("1")
    (folder / ".git").symlink_to(outside)
    linked = fingerprint(folder)
    assert linked != before
    (outside / "x.py").write_text("2")
    assert fingerprint(folder) != linked
    (folder / ".git").unlink()
    (folder / ".git" / "refs").mkdir(parents=True)
    (folder / ".git" / "refs" / "x").symlink_to(outside / "x.py")
    assert fingerprint(folder) != before


def in_git(folder: Path) -> str:
    return ".git/main.py"


def deeper(folder: Path) -> str:
    return "lib/.git/hooks/main.py"


def other_case(folder: Path) -> str:
    return ".GIT/main.py"


def around(folder: Path) -> str:
    return "lib/../.git/main.py"


def by_link(folder: Path) -> str:
    (folder / "start.py").symlink_to(".git/main.py")
    return "start.py"


def by_linked_folder(folder: Path) -> str:
    (folder / "code").symlink_to("lib/.git/hooks")
    return "code/main.py"


def out_of_the_folder(folder: Path) -> str:
    (folder.parent / "main.py").touch()
    (folder / "start.py").symlink_to("../main.py")
    return "start.py"


@pytest.mark.parametrize(
    "entry",
    [in_git, deeper, other_case, around, by_link, by_linked_folder, out_of_the_folder],
    ids=lambda one: one.__name__,
)
def test_entry_in_a_git_folder_is_refused(folder: Path, entry: object) -> None:
    for place in (".git", ".GIT", "lib/.git/hooks"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "main.py").write_text("print(1)")
    assert callable(entry)
    (folder / "skill.yaml").write_text(f"name: demo_run\ndescription: Run.\nruntime: python\nentry: {entry(folder)}\n")
    found, problems = manifest_file.read(folder)
    assert found == []
    assert [problem.rule for problem in problems] == ["manifest-entry"]
    assert "move the program" in problems[0].remedy


def test_tool_in_a_git_folder_is_refused(folder: Path) -> None:
    hidden = folder.parent / ".git" / "demo"
    hidden.parent.mkdir()
    folder.rename(hidden)
    folder.symlink_to(hidden)
    assert manifest_file.read(folder)[0] == []
