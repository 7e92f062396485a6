"""Skills from git repositories: nothing of them runs, nothing is checked out, and where they came from is kept."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.errors import InputError
from goalwright_skills.manage import git_source, install, lock_file
from goalwright_skills.manage.archive import ArchiveRefused
from goalwright_skills.manage.git_source import GitUrl, fetched
from tests.needs import needs_git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.nursery import Ran

pytestmark = needs_git
SKILL = "---\nname: {name}\ndescription: Do {name} well. Use it when {name} is asked for.\n---\n\nDo it.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    for name in ("alpha", "beta"):
        (folder / "skills" / name).mkdir(parents=True)
        (folder / "skills" / name / "SKILL.md").write_text(SKILL.format(name=name))
    (folder / "skills" / "alpha" / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (folder / "skills" / "alpha" / "run.sh").chmod(0o755)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    author = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    ran = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **author}, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def local(repository: Path, path: str = "") -> GitUrl:
    found = GitUrl.parse(f"file://{repository}{f'#{path}' if path else ''}", local=True)
    assert found is not None
    return found


def test_one_skill_is_imported_with_its_commit(repository: Path, tmp_path: Path) -> None:
    with fetched(local(repository, "skills/alpha"), local=True) as (packed, found):
        assert found == git(repository, "rev-parse", "HEAD")
        with install.stage(packed, tmp_path / "ws") as staged:
            assert staged.files == ("SKILL.md", "run.sh")
            assert os.access(staged.folder / "run.sh", os.X_OK)
            assert not (staged.folder / ".git").exists()


def test_a_collection_lists_its_skills(repository: Path) -> None:
    (repository / "skills" / "alpha" / "nested").mkdir()
    (repository / "skills" / "alpha" / "nested" / "SKILL.md").write_text(SKILL.format(name="nested"))
    commit(repository)
    with fetched(local(repository), local=True) as (packed, _):
        assert [str(path) for path in install.skills_in(packed)] == ["skills/alpha", "skills/beta"]
        with pytest.raises(ArchiveRefused, match="contains 2 skills"), install.stage(packed, repository.parent):
            pass


@pytest.mark.parametrize(
    "url",
    [
        "file:///tmp/x",
        "http://example.com/x.git",
        "git://example.com/x",
        "ext::sh -c evil",
        "ftp://example.com/x",
        "ext://sh",
        "fd::17",
    ],
)
def test_only_https_and_ssh_are_fetched(url: str) -> None:
    if url.startswith(("ext::", "fd::")):  # taken for a folder, which does not exist
        assert GitUrl.parse(url) is None
        return
    with pytest.raises(InputError, match="does not fetch from"):
        GitUrl.parse(url)


@pytest.mark.parametrize("path", ["../x", "/etc", "a/../../b", "..\\x"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="leads outside"):
        GitUrl.parse(f"https://example.com/x.git#{path}")


@pytest.mark.parametrize("url", ["https://github.com/o/r", "ssh://git@h/o/r", "git@github.com:o/r.git"])
def test_addresses_are_understood(url: str) -> None:
    assert GitUrl.parse(f"{url}#skills/pdf") == GitUrl(url, GitUrl.parse(f"{url}#skills/pdf").path)  # type: ignore[union-attr]
    assert GitUrl.parse("./skills/pdf") is None
    assert GitUrl.parse("skill.zip") is None


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://me:t0ken@h.test/o/r", "https://h.test/o/r"),
        ("HTTPS://t0ken@h.test/o/r", "HTTPS://h.test/o/r"),
        ("https://h.test/o/r@v1", "https://h.test/o/r@v1"),
        ("ssh://git:t0ken@h.test/o/r", "ssh://git@h.test/o/r"),
        ("ssh://git@h.test:22/o/r", "ssh://git@h.test:22/o/r"),
        ("git@h.test:o/r.git", "git@h.test:o/r.git"),
    ],
)
def test_the_lock_file_contains_no_password(url: str, kept: str) -> None:
    found = GitUrl.parse(f"{url}#skills/pdf")
    assert found is not None
    assert (found.url, found.kept) == (url, kept)


def test_no_code_of_a_repository_runs(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks, filters, submodules, links and settings of the user's that would run something."""
    mark = tmp_path / "ran"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    evil.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[filter "evil"]\n smudge = {evil}\n clean = cat\n[core]\n hooksPath = {tmp_path}\n fsmonitor = {evil}\n'
        f'[url "ext::{evil} "]\n insteadOf = file://\n[alias]\n fetch = !{evil}\n'
    )
    for hook in ("post-checkout", "post-merge", "reference-transaction", "post-index-change"):
        (tmp_path / hook).write_text(evil.read_text())
        (tmp_path / hook).chmod(0o755)
    skill = repository / "skills" / "alpha"
    (repository / ".gitattributes").write_text("* filter=evil\n")
    (skill / "inner").symlink_to("SKILL.md")
    commit(repository)
    mark.unlink(missing_ok=True)
    monkeypatch.setenv("HOME", str(home))
    with (
        fetched(local(repository, "skills/alpha"), local=True) as (packed, _),
        install.stage(packed, tmp_path / "w") as one,
    ):
        assert not (one.folder / "inner").is_symlink()
        assert (one.folder / "inner").read_text() == (one.folder / "SKILL.md").read_text()
    assert not mark.exists()


def test_a_link_out_of_the_repository_refuses_it(repository: Path, tmp_path: Path) -> None:
    (repository / "skills" / "alpha" / "out").symlink_to("/etc/passwd")
    commit(repository)
    with (
        fetched(local(repository, "skills/alpha"), local=True) as (packed, _),
        pytest.raises(ArchiveRefused, match="leads outside"),
        install.stage(packed, tmp_path / "ws"),
    ):
        pass


def test_missing_repositories_and_folders_are_reported(repository: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(ArchiveRefused, match="no folder skills/gone"),
        fetched(local(repository, "skills/gone"), local=True),
    ):
        pass
    with (
        pytest.raises(InputError, match=r"git cannot fetch it: fatal: .*none"),
        fetched(local(tmp_path / "none"), local=True),
    ):
        pass


def test_an_imported_skill_is_updated_and_local_edits_are_reported(
    repository: Path, workspace: Path, goalwright: Callable[..., Ran]
) -> None:
    ran = goalwright("skills", "import", "--all", "--allow-local", "--json", f"file://{repository}", cwd=workspace)
    assert ran.status == 0, ran.err
    assert [one["id"] for one in json.loads(ran.out)] == ["alpha", "beta"]
    locked = lock_file.read(workspace)
    assert locked["alpha"].url == f"file://{repository}#skills/alpha"
    assert locked["alpha"].commit == git(repository, "rev-parse", "HEAD")
    assert "changed since" not in goalwright("doctor", cwd=workspace).out

    (repository / "skills" / "alpha" / "SKILL.md").write_text(SKILL.format(name="alpha") + "Do it twice.\n")
    newer = commit(repository)
    refused = goalwright("skills", "update", "--allow-local", "--json", cwd=workspace)
    assert [row["state"] for row in json.loads(refused.out)] == ["skipped", "skipped"], "nobody was there to ask"
    checked = goalwright("skills", "update", "--check", "--yes", "--allow-local", cwd=workspace)
    assert checked.status == 1
    assert "+Do it twice." in checked.err
    assert "Do it twice" not in (workspace / ".agents/skills/alpha/SKILL.md").read_text()
    updated = goalwright("skills", "update", "--yes", "--allow-local", "--json", cwd=workspace)
    assert [row["state"] for row in json.loads(updated.out)] == ["updated", "current"]
    assert lock_file.read(workspace)["alpha"].commit == newer

    (workspace / ".agents/skills/beta/SKILL.md").write_text(SKILL.format(name="beta") + "Mine.\n")
    assert "changed since import: beta" in goalwright("doctor", cwd=workspace).out
    assert goalwright("skills", "update", "nope", cwd=workspace).status == 2


def test_an_untrusted_lock_file_causes_no_fetch(workspace: Path, goalwright: Callable[..., Ran]) -> None:
    (workspace / ".agents").mkdir(exist_ok=True)
    row = {"url": "ext::sh -c evil", "commit": "x", "sha256": "y"}
    (workspace / ".agents/skills.lock").write_text(json.dumps({"version": 1, "skills": {"alpha": row}}))
    ran = goalwright("skills", "update", "--yes", cwd=workspace)
    assert ran.status == 1
    assert "failed" in ran.out
    (workspace / ".agents/skills.lock").write_text("[]")
    broken = goalwright("skills", "update", cwd=workspace)
    assert broken.status == 2
    assert "skills.lock cannot be read" in broken.err


def test_a_recursive_tree_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_source, "_LARGEST_LISTING", 2 * 1024**2)
    row = git(repository, "ls-tree", "HEAD:skills/alpha", "--", "SKILL.md").replace("SKILL.md", "f{}")
    for _ in range(7):
        tree = "\n".join(row.format(number) for number in range(10))
        made = subprocess.run(
            ["git", "mktree"], cwd=repository, input=tree, capture_output=True, text=True, check=True
        ).stdout.strip()
        row = f"040000 tree {made}\td{{}}"
    git(repository, "update-ref", "HEAD", git(repository, "commit-tree", made, "-m", "x"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with (
        pytest.raises(ArchiveRefused, match="git ls-tree wrote more than 2 MB"),
        fetched(local(repository), local=True),
    ):
        pass

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024, "ten million names"


def test_child_processes_of_git_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {tmp_path}/child\nwait\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git_source, "_TIMEOUT", 2)

    with pytest.raises(InputError, match="took longer than 2 s"), fetched(local(tmp_path), local=True):
        pass

    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(number: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
