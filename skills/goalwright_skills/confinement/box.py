"""What a confined process may do, and the interface that each kind of confinement implements."""

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
    """What one call may use: seconds of CPU time, bytes of memory and per file, processes, open files."""

    cpu: int = 60
    memory: int = 2 * 1024**3
    file_size: int = 256 * 1024**2
    processes: int = 128
    open_files: int = 512

    def for_timeout(self, seconds: float) -> ResourceLimits:
        """The same limits with the CPU time that two busy cores use until the timeout."""
        return replace(self, cpu=2 * math.ceil(seconds) + 1)


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments; `reads` are the folders its interpreter needs.

    `env` are variables that strangers chose: they are set inside the walls, since what puts these up would obey them.
    """

    argv: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    python: bool = False  # argv is a Python interpreter, its options, and a script
    env: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Box:
    """What a process may use; the rest of the disk is hidden, and so is the network unless granted.

    With `bridge`, an open socket, the only network is a loopback of its own: a listening socket on it is handed out
    through the bridge, and the process finds it as its HTTP proxy. Only where a confinement `bridges`.

    What `readable` folders hide (see hidden_paths.py) is not shown, except for the `shown` places in them. `views`
    remembers it from call to call.
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
    """What to start; the caller passes `fds` to the child, closes them, and calls `done` at the end.

    While the process runs, `watch` watches its memory, and gives a function that says whether it used too much.
    """

    argv: tuple[str, ...]
    fds: tuple[int, ...] = ()
    done: Callable[[], None] = _nothing
    watch: Callable[[int], AbstractContextManager[Callable[[], bool]]] = _unwatched
    gentle: bool = False  # stopped with SIGTERM, on which it kills its whole process group


def memory_file(name: str, content: bytes) -> int:
    """An open file in memory, for what is too long for an argument, or not for all to read."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as made:
            fd = os.dup(made.fileno())
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Confinement(Protocol):
    """A way to run a command inside a box."""

    @property
    def name(self) -> str:
        """The name shown to people."""

    @property
    def refusal(self) -> str:
        """Why it runs nothing, and what to do about it; empty if it can run commands."""

    @property
    def bridges(self) -> bool:
        """Whether a box may have a bridge."""

    def launch(self, command: Command, box: Box) -> Launch:
        """What to start so that the command runs inside the box."""
