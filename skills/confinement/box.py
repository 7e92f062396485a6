"""What a confined process may do, and the port that each kind of confinement implements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """How much one call may use: seconds of CPU, bytes of memory and of one file, processes, open files."""

    cpu: int = 60
    memory: int = 2 * 1024**3
    file_size: int = 256 * 1024**2
    processes: int = 128
    open_files: int = 512

    def for_timeout(self, seconds: float) -> ResourceLimits:
        """The same with as much CPU time as two busy cores use until the time-out."""
        return replace(self, cpu=2 * math.ceil(seconds) + 1)


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments; `reads` are the folders that its interpreter needs."""

    argv: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    python: bool = False  # argv is a Python interpreter, its options, and a script


@dataclass(frozen=True, slots=True)
class Box:
    """What a process sees: all else of the disk is hidden, and the network too unless it is granted."""

    cwd: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False
    limits: ResourceLimits = field(default_factory=ResourceLimits)


def _nothing() -> None:
    """Nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start; `fds` go to the child; who starts it closes them, and calls `done` at the end."""

    argv: tuple[str, ...]
    fds: tuple[int, ...] = ()
    done: Callable[[], None] = _nothing
    gentle: bool = False  # stopped with SIGTERM, upon which it takes its whole process group along


class Confinement(Protocol):
    """A way to run a command inside a box."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def refusal(self) -> str:
        """Why it runs nothing, and what to do; empty where it runs things."""

    def launch(self, command: Command, box: Box) -> Launch:
        """What to start so that the command runs inside the box."""
