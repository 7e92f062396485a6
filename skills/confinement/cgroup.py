"""A limit on processes that binds root too: control groups, where this process may make them.

RLIMIT_NPROC does not bind root, and for others it counts all processes of the user, so it is used only inside
a namespace. A control group counts the call's own. Groups are used again: making one takes milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from pathlib import Path

FIRST = Path("/sys/fs/cgroup/pids")
SECOND = Path("/sys/fs/cgroup")
PREFIX = "weft-"
PATIENCE = 20
ENTER = 'echo $$ > "$1/cgroup.procs" || exit 125; shift; exec "$@"'


def root() -> Path | None:
    """Where groups with a limit on processes can be made; None where they cannot."""
    if os.geteuid() != 0:
        return None
    for folder, ready in ((FIRST, (FIRST / "cgroup.procs").exists()), (SECOND, _delegates_pids())):
        if ready and os.access(folder, os.W_OK):
            return folder
    return None


class Groups:
    """The groups of this process: as many as calls ran at once, removed when it ends."""

    def __init__(self, parent: Path | None) -> None:
        self.parent = parent
        self.free: list[Path] = []
        self.made: list[Path] = []
        weakref.finalize(self, _remove, self.made)

    def take(self, processes: int) -> Path | None:
        """A group for one call that admits so many processes; None where groups cannot be made."""
        if self.parent is None:
            return None
        try:
            group = self.free.pop() if self.free else self._make(self.parent)
            (group / "pids.max").write_text(str(processes))
        except OSError:
            return None
        return group

    def give(self, group: Path | None) -> None:
        """A call's group is free again."""
        if group is not None:
            self.free.append(group)

    def _make(self, parent: Path) -> Path:
        if not self.made:
            _sweep(parent)
        group = parent / f"{PREFIX}{os.getpid()}-{id(self):x}-{len(self.made)}"
        group.mkdir()
        self.made.append(group)
        return group


def entry(group: Path | None) -> tuple[str, ...]:
    """The words before a command that put it into the group."""
    return ("/bin/sh", "-c", ENTER, "sh", str(group)) if group is not None else ()


def _remove(groups: list[Path]) -> None:
    """Remove the groups; the kernel needs a moment until the last process has left one."""
    for group in groups:
        for _ in range(PATIENCE):
            try:
                group.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)
            else:
                break


def _sweep(parent: Path) -> None:
    """Remove what a killed weft left."""
    for group in parent.glob(f"{PREFIX}*-*-*"):
        owner = group.name.removeprefix(PREFIX).split("-")[0]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def _delegates_pids() -> bool:
    try:
        return "pids" in (SECOND / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
