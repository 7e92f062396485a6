"""Output files are written completely or left unchanged."""

from __future__ import annotations

import os
import resource
import signal
import stat
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.cli.view import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def full_disk() -> Iterator[None]:
    """Limit files to 100 bytes."""
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, size[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("before", [None, "as it was"])
def test_full_disk_leaves_the_file_unchanged_and_the_error_names_it(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "run.jsonl"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    with full_disk(), pytest.raises(OSError, match="too large") as caught:
        whole_file.write(path, "x" * 100_000)
    assert caught.value.filename == str(path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == ({path.name: before} if before else {})


def test_failure_in_the_block_leaves_the_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("as it was", encoding="utf-8")

    def broken() -> None:
        with whole_file.opened(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["as it was"]


def test_permissions_and_symbolic_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "private", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    link.symlink_to(path)
    whole_file.write(link, "new")
    assert link.is_symlink()
    assert (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    whole_file.write(tmp_path / "other", "new")
    (tmp_path / "plain").touch()
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    whole_file.write(pipe, "text")
    reader.join()
    assert read == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_missing_folder_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "run.jsonl"
    with pytest.raises(FileNotFoundError) as caught:
        whole_file.write(path, "text")
    assert caught.value.filename == str(path)
