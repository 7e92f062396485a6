"""The rule about hidden names, and where it does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.hidden_paths import is_foreign, is_hidden, is_hidden_name, shown_anyway, skill_parts, unlinked

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN = [".env", ".env.local", ".ENV", ".envrc", "server.pem", "Server.PEM", "id.key", ".git", ".GIT", ".mcp.json",
          "goalwright.toml", "Goalwright.TOML", ".agents"]  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_secrets_and_settings_are_hidden_in_any_case(name: str) -> None:
    assert is_hidden_name(name)


@pytest.mark.parametrize(
    "name", ["env", "environment.py", "keys.txt", "pem.md", ".gitignore", "agents", "key", ".claude"]
)
def test_ordinary_names_are_not_hidden(name: str) -> None:
    assert not is_hidden_name(name)


def test_a_name_hides_everything_below_it(tmp_path: Path) -> None:
    assert is_hidden(tmp_path, tmp_path / "a/b/.git/config")
    assert is_hidden(tmp_path, tmp_path / "a/b/.env.d/c/d.txt")
    assert not is_hidden(tmp_path, tmp_path / "a/b/c.txt")
    assert not is_hidden(tmp_path / ".env.d", tmp_path / ".env.d/inside.txt")


def test_skills_and_artifacts_are_shown_but_not_what_they_hide(tmp_path: Path) -> None:
    artifacts = tmp_path / ".agents/runs/r1/artifacts"
    shown = shown_anyway(tmp_path, artifacts)
    for name in (".agents/skills/x/SKILL.md", ".agents/sys.skills/x/a.py", ".agents/runs/r1/artifacts/a.txt"):
        assert not is_hidden(tmp_path, tmp_path / name, shown)
    for name in (".agents/journal.sqlite", ".agents/skills/x/.env", ".agents/runs/r2/artifacts/a.txt",
                 ".agents/skills.pem", "sub/.agents/skills/x/SKILL.md"):  # fmt: skip
        assert is_hidden(tmp_path, tmp_path / name, shown)


def test_a_planted_link_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "w/.agents").mkdir(parents=True)
    (tmp_path / "w/.agents/skills").symlink_to(tmp_path)
    (tmp_path / "w/.agents/sys.skills").mkdir()
    workspace = tmp_path / "w"
    assert unlinked(workspace, shown_anyway(workspace)) == (workspace / ".agents/sys.skills",)


def test_a_link_to_a_project_shows_only_the_parts_of_a_skill(tmp_path: Path) -> None:
    workspace, other, plain = tmp_path / "w", tmp_path / "other", tmp_path / "plain"
    for folder in (workspace / "skills", other / ".git", plain):
        folder.mkdir(parents=True)
    (workspace / "skills/far").symlink_to(other)
    (workspace / "skills/near").symlink_to(plain)
    (workspace / "skills/self").symlink_to(workspace / ".agents")
    (workspace / ".agents").mkdir()
    assert is_foreign(workspace / "skills/far", workspace)
    assert is_foreign(workspace / "skills/self", workspace)
    assert workspace / "skills/far" not in skill_parts(workspace / "skills/far", workspace)
    (plain / "notes.txt").touch()
    (plain / "guide.md").touch()
    near = workspace / "skills/near"
    assert near / "guide.md" in skill_parts(near, workspace)
    assert not {near, near / "notes.txt"} & set(skill_parts(near, workspace))
    (plain / "skill.yaml").touch()
    assert skill_parts(near, workspace) == (near,)
    assert skill_parts(other, workspace) == (other,)  # the user's own folder, not a link of the workspace
