"""A limit on processes that binds root too: a control group for each call, where this process may make one.

RLIMIT_NPROC does not bind root, and for others it counts all processes of the user, so it is used only inside
a namespace. A control group counts the call's own.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.confinement.box import Limits

FIRST = Path("/sys/fs/cgroup/pids")
SECOND = Path("/sys/fs/cgroup")
ENTER = 'echo $$ > "$1/cgroup.procs" || exit 125; shift; exec "$@"'


def root() -> Path | None:
    """Where groups with a limit on processes can be made; None where they cannot."""
    for folder, ready in ((FIRST, (FIRST / "cgroup.procs").exists()), (SECOND, _delegates_pids())):
        if ready and os.geteuid() == 0 and os.access(folder, os.W_OK):
            return folder
    return None


def entered(limits: Limits) -> tuple[Path | None, tuple[str, ...]]:
    """A new group, and the words before a command that put it there; nothing where groups cannot be made."""
    parent = root()
    if parent is None:
        return None, ()
    try:
        group = Path(tempfile.mkdtemp(prefix="weft-", dir=parent))
        (group / "pids.max").write_text(str(limits.processes))
    except OSError:
        return None, ()
    return group, ("/bin/sh", "-c", ENTER, "sh", str(group))


def leave(group: Path | None) -> None:
    """Remove a call's group; a group that is not empty yet stays, which its last process's end mends."""
    if group is not None:
        with contextlib.suppress(OSError):
            group.rmdir()


def _delegates_pids() -> bool:
    try:
        return "pids" in (SECOND / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
