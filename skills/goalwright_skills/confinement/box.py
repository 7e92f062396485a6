"""The permissions of a confined process, and the interface that each confinement implements."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from goalwright_skills.confinement.view import Views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of one call: CPU seconds, bytes of memory, bytes per file, processes, open files."""

    cpu: int = 60
    memory: int = 2 * 1024**3
    file_size: int = 256 * 1024**2
    processes: int = 128
    open_files: int = 512

    def for_timeout(self, seconds: float) -> ResourceLimits:
        """Return these limits with the CPU time that two cores can use until the timeout."""
        return replace(self, cpu=2 * math.ceil(seconds) + 1)


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments; `reads` are the folders its interpreter needs.

    `env` contains untrusted variables, which are set inside the sandbox only, because its setup would obey them.
    """

    argv: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    python: bool = False  # argv is a Python interpreter, its options, and a script
    env: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Box:
    """The permissions of a process; all other files are hidden, and there is no network unless granted.

    `bridge` is an open socket for a confinement with `bridges`: the only network is then a loopback of the process's
    own, with an HTTP proxy whose listening socket is handed out through the bridge.

    Hidden files (see hidden_paths.py) of `readable` folders are not visible, except for the `shown` paths in them.
    `views` caches them between calls.
    """

    cwd: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    shown: tuple[Path, ...] = ()
    views: Views = field(default_factory=Views, compare=False)
    bridge: int | None = None


def _nothing() -> None:
    """Do nothing."""


@contextlib.contextmanager
def _unwatched(_process: int) -> Iterator[Callable[[], bool]]:
    """Watch nothing."""
    yield lambda: False


@dataclass(frozen=True, slots=True)
class Launch:
    """A command to start; the caller passes `fds` to the child, closes them, and calls `done` at the end.

    While the process runs, `watch` watches its memory and yields a function that returns whether it used too much.
    """

    argv: tuple[str, ...]
    fds: tuple[int, ...] = ()
    done: Callable[[], None] = _nothing
    watch: Callable[[int], AbstractContextManager[Callable[[], bool]]] = _unwatched
    gentle: bool = False  # stop it with SIGTERM, on which it kills its process group


def memory_file(name: str, content: bytes) -> int:
    """Return an open file in memory, for data that is too long or too secret for an argument."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as temporary:
            fd = os.dup(temporary.fileno())
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Confinement(Protocol):
    """A way to run a command inside a box."""

    @property
    def name(self) -> str:
        """The name that is shown to people."""

    @property
    def refusal(self) -> str:
        """Why no command can be run, and what to do about it; empty if commands can be run."""

    @property
    def bridges(self) -> bool:
        """Whether a box may have a bridge."""

    def launch(self, command: Command, box: Box) -> Launch:
        """Return what to start so that the command runs inside the box."""
