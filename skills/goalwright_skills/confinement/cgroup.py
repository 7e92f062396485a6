"""Control groups, if they can be created: limits on the processes and memory of a whole call, which bind root too.

RLIMIT_NPROC does not bind root, and otherwise counts all processes of the user, so it is used only inside a namespace.
RLIMIT_DATA counts neither shared memory nor other processes. A control group counts only the call's own processes and
all of their memory. Groups are reused, because creating one takes milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goalwright_skills.confinement.box import ResourceLimits

V1 = Path("/sys/fs/cgroup/pids")
V1_MEMORY = Path("/sys/fs/cgroup/memory")
V2 = Path("/sys/fs/cgroup")
PREFIX = "goalwright-"
REMOVE_ATTEMPTS = 20
ENTER = 'for g in $1; do echo $$ > "$g/cgroup.procs" || exit 125; done; shift; exec "$@"'
# Version 1: the limits of memory and of memory with swap; version 2: the limits of memory and of swap.
LIMITS = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), ("memory.max", "memory.swap.max")
_KILLS = re.compile(r"^oom_kill (\d+)", re.MULTILINE)


def root() -> Path | None:
    """Return the folder in which groups that limit processes can be created; None if there is none."""
    return _usable("pids", V1)


def memory_root() -> Path | None:
    """Return the folder in which groups that limit memory can be created; None if there is none."""
    return _usable("memory", V1_MEMORY)


def _usable(controller: str, v1: Path) -> Path | None:
    if os.geteuid() != 0:
        return None
    for folder, ready in ((v1, (v1 / "cgroup.procs").exists()), (V2, _delegates(controller))):
        if ready and os.access(folder, os.W_OK):
            return folder
    return None


@dataclass(frozen=True, slots=True)
class Group:
    """A call's control group: a folder that limits processes, and one, possibly the same, that limits memory."""

    processes: Path | None
    memory: Path | None

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that a process has to enter."""
        return tuple(dict.fromkeys(str(folder) for folder in (self.processes, self.memory) if folder is not None))

    def limit(self, limits: ResourceLimits) -> None:
        """Set the limits of one call."""
        if self.processes is not None:
            (self.processes / "pids.max").write_text(str(limits.processes))
        if self.memory is None:
            return
        is_v1 = (self.memory / LIMITS[0][0]).exists()
        names, values = (LIMITS[0], (limits.memory, limits.memory)) if is_v1 else (LIMITS[1], (limits.memory, 0))
        (self.memory / names[0]).write_text(str(values[0]))
        with contextlib.suppress(OSError):  # the machine has no swap or does not count it
            (self.memory / names[1]).write_text(str(values[1]))

    @contextlib.contextmanager
    def watching(self, _process: int) -> Iterator[Callable[[], bool]]:
        """Yield a function that returns whether the kernel killed a process of the group for its memory."""
        before = self._kills()
        yield lambda: self._kills() > before

    def _kills(self) -> int:
        for name in ("memory.oom_control", "memory.events"):
            with contextlib.suppress(OSError, AttributeError):
                if self.memory is not None and (match := _KILLS.search((self.memory / name).read_text())):
                    return int(match[1])
        return 0

    def is_clean(self, limits: ResourceLimits) -> bool:
        """Whether the group uses little memory; files in memory stay with the group that wrote them."""
        for name in ("memory.usage_in_bytes", "memory.current"):
            with contextlib.suppress(OSError, AttributeError, ValueError):
                if self.memory is not None:
                    return int((self.memory / name).read_text()) < limits.memory // 16
        return True


class Groups:
    """The groups of this process, one for each concurrent call; removed when the process ends."""

    def __init__(self, processes: Path | None, memory: Path | None = None) -> None:
        self.parents = (processes, memory)
        self.free: list[Group] = []
        self.created: list[Path] = []
        self.count = 0
        weakref.finalize(self, _remove, self.created)

    def acquire(self, limits: ResourceLimits) -> Group | None:
        """Return a group with the limits of one call; None if groups cannot be created."""
        if self.parents == (None, None):
            return None
        try:
            group = self.free.pop() if self.free else self._create()
            group.limit(limits)
        except OSError:
            return None
        return group

    def release(self, group: Group | None, limits: ResourceLimits) -> None:
        """Make a call's group available again."""
        if group is not None and group.is_clean(limits):
            self.free.append(group)
        elif group is not None:
            _remove([Path(name) for name in group.folders])

    def _create(self) -> Group:
        name = f"{PREFIX}{os.getpid()}-{id(self):x}-{self.count}"
        self.count += 1
        folders: list[Path | None] = []
        for parent in self.parents:
            if parent is not None and self.count == 1:
                _sweep(parent)
            folder = parent / name if parent is not None else None
            if folder is not None and folder not in folders:
                folder.mkdir()
                self.created.append(folder)
            folders.append(folder)
        return Group(folders[0], folders[1])


def entry(group: Group | None) -> tuple[str, ...]:
    """Return the arguments in front of a command that put it into the group."""
    return ("/bin/sh", "-c", ENTER, "sh", " ".join(group.folders)) if group is not None else ()


def _remove(groups: Sequence[Path]) -> None:
    """Remove the groups; it takes the kernel a moment to remove the last process from one."""
    for group in groups:
        for _ in range(REMOVE_ATTEMPTS):
            try:
                group.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)
            else:
                break


def _sweep(parent: Path) -> None:
    """Remove the groups that a killed goalwright left behind."""
    for group in parent.glob(f"{PREFIX}*-*-*"):
        owner = group.name.removeprefix(PREFIX).split("-")[0]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def _delegates(controller: str) -> bool:
    try:
        return controller in (V2 / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
