"""Strangers' files are read as regular files, bounded, without waiting; pipes only where the user names one."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "kernel"),
    [
        ("/proc/self/environ", True),
        ("/sys", True),
        ("/dev/zero", True),
        ("/dev/shm/work/goalwright.toml", False),
        ("/development/goalwright.toml", False),
        ("/home/proc", False),
    ],
)
def test_kernel_paths_are_recognised(path: str, kernel: bool) -> None:
    assert untrusted_files.is_kernel_path(path) is kernel


def test_a_file_up_to_the_limit_is_read_and_a_longer_one_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\nb")

    assert untrusted_files.read_text(tmp_path / "a", 7) == "a\nb"
    with pytest.raises(OSError, match="exceeds 6 bytes"):
        untrusted_files.read(tmp_path / "a", 6)


def test_a_pipe_with_a_writer_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.yaml")
    writing = threading.Thread(target=(tmp_path / "plan.yaml").write_text, args=("tasks: []",))
    writing.start()

    assert untrusted_files.read_given_text(tmp_path / "plan.yaml") == "tasks: []"
    writing.join()
    with pytest.raises(OSError, match="not a regular file"):
        untrusted_files.read(tmp_path / "plan.yaml")


def test_a_pipe_from_a_shell_is_awaited() -> None:
    reading, writing = os.pipe()

    def write() -> None:
        os.write(writing, b"late")
        os.close(writing)

    threading.Timer(0.2, write).start()

    assert untrusted_files.read_given(f"/dev/fd/{reading}") == b"late"
    os.close(reading)
