"""A limit on processes that binds root too: control groups, if this process may create them.

RLIMIT_NPROC does not bind root, and for others it counts all processes of the user, so it is used only inside a
namespace. A control group counts only the call's own processes. Groups are reused, since creating one takes
milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from pathlib import Path

V1 = Path("/sys/fs/cgroup/pids")
V2 = Path("/sys/fs/cgroup")
PREFIX = "weft-"
REMOVE_ATTEMPTS = 20
ENTER = 'echo $$ > "$1/cgroup.procs" || exit 125; shift; exec "$@"'


def root() -> Path | None:
    """The folder in which groups that limit processes can be created; None if there is none."""
    if os.geteuid() != 0:
        return None
    for folder, ready in ((V1, (V1 / "cgroup.procs").exists()), (V2, _delegates_pids())):
        if ready and os.access(folder, os.W_OK):
            return folder
    return None


class Groups:
    """The groups of this process: one for each concurrent call, removed when it ends."""

    def __init__(self, parent: Path | None) -> None:
        self.parent = parent
        self.free: list[Path] = []
        self.created: list[Path] = []
        weakref.finalize(self, _remove, self.created)

    def acquire(self, processes: int) -> Path | None:
        """A group for one call, limited to this many processes; None if groups cannot be created."""
        if self.parent is None:
            return None
        try:
            group = self.free.pop() if self.free else self._create(self.parent)
            (group / "pids.max").write_text(str(processes))
        except OSError:
            return None
        return group

    def release(self, group: Path | None) -> None:
        """Make a call's group available again."""
        if group is not None:
            self.free.append(group)

    def _create(self, parent: Path) -> Path:
        if not self.created:
            _sweep(parent)
        group = parent / f"{PREFIX}{os.getpid()}-{id(self):x}-{len(self.created)}"
        group.mkdir()
        self.created.append(group)
        return group


def entry(group: Path | None) -> tuple[str, ...]:
    """The arguments in front of a command that put it into the group."""
    return ("/bin/sh", "-c", ENTER, "sh", str(group)) if group is not None else ()


def _remove(groups: list[Path]) -> None:
    """Remove the groups; the kernel takes a moment until the last process has left one."""
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
    """Remove the groups that a killed weft left behind."""
    for group in parent.glob(f"{PREFIX}*-*-*"):
        owner = group.name.removeprefix(PREFIX).split("-")[0]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def _delegates_pids() -> bool:
    try:
        return "pids" in (V2 / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
