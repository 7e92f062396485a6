"""Files are written below a folder without following a link that a tool or a stranger's checkout put there."""

from __future__ import annotations

import errno
import os
import resource
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright_skills import safe_files
from goalwright_skills.safe_files import Changed, UnsafePath
from tests.needs import needs_mounts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "profile").write_text("mine")
    return tmp_path / "outside"


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_file_is_written_with_the_folders_above_it_and_nothing_else_stays(root: Path) -> None:
    safe_files.write(root / "a/b/c.md", "one", below=root)
    safe_files.write(root / "a/b/c.md", b"two", below=root)

    assert contents(root) == {"a/b/c.md": "two"}


@pytest.mark.parametrize("target", ["profile", "new", "/dev/full", "missing/folder/file"])
def test_a_link_in_the_place_of_a_file_is_replaced_and_its_target_untouched(
    root: Path, outside: Path, target: str
) -> None:
    (root / "task.md").symlink_to(outside / target)

    safe_files.write(root / "task.md", "text", below=root)

    assert not (root / "task.md").is_symlink()
    assert contents(root) == {"task.md": "text"}
    assert contents(outside) == {"profile": "mine"}


def test_a_hard_link_is_replaced_and_the_other_name_keeps_its_content(root: Path, outside: Path) -> None:
    (root / "task.md").hardlink_to(outside / "profile")

    safe_files.write(root / "task.md", "text", below=root)

    assert contents(outside) == {"profile": "mine"}


def test_a_pipe_in_the_place_of_a_file_does_not_block(root: Path) -> None:
    os.mkfifo(root / "task.md")

    safe_files.write(root / "task.md", "text", below=root)

    assert contents(root) == {"task.md": "text"}


@pytest.mark.parametrize("inside", [(), ("full",)])
def test_a_folder_in_the_place_of_a_file_is_refused_and_no_draft_stays(root: Path, inside: tuple[str, ...]) -> None:
    (root / "task.md").mkdir()
    for name in inside:
        (root / "task.md" / name).touch()

    with pytest.raises(UnsafePath, match=r"task\.md is a folder"):
        safe_files.write(root / "task.md", "text", below=root)

    assert [path.name for path in root.iterdir()] == ["task.md"]


@pytest.mark.parametrize("linked", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("target", ["", "missing"])
def test_a_linked_folder_on_the_way_is_refused_and_named(root: Path, outside: Path, linked: str, target: str) -> None:
    (root / linked).parent.mkdir(parents=True, exist_ok=True)
    (root / linked).symlink_to(outside / target)

    for write in (
        lambda: safe_files.write(root / "a/b/c/file", "text", below=root),
        lambda: safe_files.make_folder(root / "a/b/c/folder", below=root),
        lambda: safe_files.create(root / "a/b/c/file", "text", below=root),
        lambda: safe_files.refuse_links(root / "a/b/c/file", below=root),
    ):
        with pytest.raises(UnsafePath) as caught:
            write()
        assert str(root / linked) in caught.value.message
        assert "is a link" in caught.value.message
    assert contents(outside) == {"profile": "mine"}
    assert [path.name for path in outside.iterdir()] == ["profile"]


def test_a_link_within_the_same_folder_is_refused_too(root: Path) -> None:
    (root / "real").mkdir()
    (root / "a").symlink_to("real")

    with pytest.raises(UnsafePath):
        safe_files.write(root / "a/file", "text", below=root)


def test_a_file_or_pipe_on_the_way_is_refused(root: Path) -> None:
    (root / "file").touch()
    os.mkfifo(root / "pipe")

    for name in ("file", "pipe"):
        with pytest.raises(UnsafePath, match="not a plain folder"):
            safe_files.write(root / name / "x", "text", below=root)


def test_creating_leaves_a_plain_file_and_refuses_everything_else(root: Path, outside: Path) -> None:
    (root / "there").write_text("mine")
    (root / "link").symlink_to(outside / "profile")
    (root / "dangling").symlink_to(outside / "new")
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()

    assert safe_files.create(root / "new", "text", below=root) is True
    assert safe_files.create(root / "there", "text", below=root) is False
    for name in ("link", "dangling", "pipe", "folder"):
        with pytest.raises(UnsafePath):
            safe_files.create(root / name, "text", below=root)
    assert contents(outside) == {"profile": "mine"}
    assert (root / "there").read_text() == "mine"


@pytest.mark.parametrize("path", ["../outside/file", "a/../../outside/file", "/etc/file"])
def test_a_path_that_leads_outside_is_refused(root: Path, outside: Path, path: str) -> None:
    with pytest.raises(UnsafePath, match="is not inside"):
        safe_files.write(root / path, "text", below=root)

    assert contents(outside) == {"profile": "mine"}


def test_the_users_own_path_to_the_root_may_lead_through_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)

    safe_files.write(tmp_path / "link/a/file", "text", below=tmp_path / "link")

    assert contents(root) == {"a/file": "text"}


def test_anchor_is_the_workspace_or_the_nearest_folder(root: Path, tmp_path: Path) -> None:
    assert safe_files.anchor(root / ".agents/runs", root) == root
    assert safe_files.anchor(tmp_path / "x/y", root) == tmp_path


REPLACE_TWICE = """
import sys, pathlib
from goalwright_skills import safe_files
root = pathlib.Path(sys.argv[1])
drafts = root / ".agents/runs/r1/changes"
assert root.stat().st_dev != drafts.parent.parent.parent.stat().st_dev
for name, was in (("src/new.txt", None), ("src/old.txt", b"old")):
    safe_files.replace_if(root / name, b"new", was, below=root, drafts=drafts)
    try:
        safe_files.replace_if(root / name, b"other", was, below=root, drafts=drafts)
    except safe_files.Changed:
        pass
    else:
        raise SystemExit(f"{name} was overwritten")
assert not list(drafts.iterdir())
"""


@needs_mounts
def test_a_file_is_replaced_if_drafts_are_on_another_file_system(root: Path) -> None:
    (root / "src").mkdir()
    (root / ".agents").mkdir()
    (root / "src/old.txt").write_text("old")
    (root / "src/old.txt").chmod(0o755)
    run = [sys.executable, "-c", REPLACE_TWICE, str(root)]
    line = f"mount -t tmpfs none {shlex.quote(str(root / '.agents'))} && exec {shlex.join(run)}"
    subprocess.run(["unshare", "-rm", "sh", "-c", line], check=True)
    assert contents(root) == {"src/new.txt": "new", "src/old.txt": "new"}
    assert (root / "src/old.txt").stat().st_mode & 0o777 == 0o755


def test_a_new_file_is_written_where_there_are_no_hard_links(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    safe_files.replace_if(root / "new", b"new", None, below=root, drafts=root / "drafts")
    with pytest.raises(Changed):
        safe_files.replace_if(root / "new", b"other", None, below=root, drafts=root / "drafts")
    assert contents(root) == {"new": "new"}


@pytest.mark.parametrize("put", [safe_files.create, safe_files.write])
def test_a_full_disk_leaves_no_half_file_and_the_error_names_it(root: Path, put: Callable[..., object]) -> None:
    path = root / "goalwright.toml"
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, size[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            put(path, "x" * 1_000, below=root)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (caught.value.filename, list(root.iterdir())) == (str(path), [])
