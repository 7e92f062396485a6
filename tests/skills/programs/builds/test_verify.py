"""A finished build may contain files, folders, and links that stay inside."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.verify import verify


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "code.py").touch()
    (folder / "lib64").symlink_to("lib")
    return folder


def test_regular_build_is_accepted(build: Path) -> None:
    (build / "python").symlink_to("/bin/sh")
    verify(build, {os.path.realpath("/bin/sh")})


@pytest.mark.parametrize("target", ["/etc/passwd", "../..", "../../x", "../lib/../../secret", "/"])
def test_a_link_out_of_it_is_refused(build: Path, target: str) -> None:
    (build / "lib" / "out").symlink_to(target)
    with pytest.raises(BuildError, match="is a link to"):
        verify(build)


def test_a_link_through_a_link_is_refused(build: Path) -> None:
    (build / "a").symlink_to("lib/b")
    (build / "lib" / "b").symlink_to("/etc")
    with pytest.raises(BuildError, match="is a link to /etc"):
        verify(build)


@pytest.mark.parametrize("bit", [0o4755, 0o2755])
def test_setuid_program_is_refused(build: Path, bit: int) -> None:
    (build / "lib" / "code.py").chmod(bit)
    with pytest.raises(BuildError, match="runs as another user"):
        verify(build)


def test_pipes_and_sockets_are_refused(build: Path) -> None:
    os.mkfifo(build / "pipe")
    with pytest.raises(BuildError, match="neither a file nor a folder"):
        verify(build)
    (build / "pipe").unlink()
    here = Path.cwd()
    os.chdir(build)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("s")
    finally:
        os.chdir(here)
    with pytest.raises(BuildError, match="neither a file nor a folder"):
        verify(build)
