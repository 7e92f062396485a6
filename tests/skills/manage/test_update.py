"""Newer versions of skills that came from git repositories."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.errors import InputError
from goalwright_skills.manage import install, lock_file
from goalwright_skills.manage.git_source import GitUrl, fetched
from goalwright_skills.manage.update import fetched_version, imported_skills

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: pdf\ndescription: Read PDF files.\n---\n{body}\n"


def commit(repository: Path, body: str) -> None:
    (repository / "SKILL.md").write_text(SKILL.format(body=body))
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for arguments in (("add", "."), (*identity, "commit", "-qm", body)):
        subprocess.run(("git", "-C", str(repository), *arguments), check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "pdf"
    folder.mkdir()
    subprocess.run(("git", "init", "-q", str(folder)), check=True)
    commit(folder, "First.")
    return folder


@pytest.fixture
def imported(repository: Path, tmp_path: Path) -> Path:
    """A workspace that has the skill as it was first."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    source = GitUrl.parse(str(repository), local=True)
    assert source is not None
    with fetched(source, local=True) as (packed, number), install.stage(packed, workspace, id="pdf") as staged:
        folder = staged.commit()
    lock_file.record(workspace, "pdf", lock_file.Origin(source.url, number, lock_file.fingerprint(folder)))
    return workspace


def test_a_skill_that_the_repository_has_too_is_current(imported: Path) -> None:
    origin = imported_skills(imported, ())["pdf"]

    with fetched_version(imported, "pdf", origin, local=True) as version:
        assert version.is_current
        assert not version.was_edited
        assert list(version.differences()) == []


def test_a_newer_version_is_shown_as_a_patch_and_installed_with_its_origin(imported: Path, repository: Path) -> None:
    commit(repository, "Second.")
    origin = imported_skills(imported, ["pdf"])["pdf"]

    with fetched_version(imported, "pdf", origin, local=True) as version:
        assert not version.is_current
        assert {"-First.", "+Second."} <= set(version.differences())
        version.install()

    updated = imported_skills(imported, ())["pdf"]
    assert "Second." in (imported / ".agents/skills/pdf/SKILL.md").read_text()
    assert updated.commit != origin.commit
    assert updated.sha256 == lock_file.fingerprint(imported / ".agents/skills/pdf")


def test_local_edits_are_detected(imported: Path, repository: Path) -> None:
    commit(repository, "Second.")
    (imported / ".agents/skills/pdf/SKILL.md").write_text(SKILL.format(body="Mine."))

    with fetched_version(imported, "pdf", imported_skills(imported, ())["pdf"], local=True) as version:
        assert version.was_edited


def test_updating_a_skill_without_an_origin_is_refused_with_a_hint(imported: Path) -> None:
    with pytest.raises(InputError, match="notes was not imported from a repository"):
        imported_skills(imported, ["pdf", "notes"])
