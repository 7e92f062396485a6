"""Who is at a run: a process on a machine, recognised even after it died."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Seconds between signs of life, and the age at which a holder on another machine counts as gone.
BEAT = 5.0
EXPIRY = 60.0


@dataclass(frozen=True, slots=True)
class Holder:
    """A process: its machine since it was started, its space of process ids, its id and when it began."""

    host: str
    boot: str
    space: str
    pid: int
    start: str

    def to_json(self) -> str:
        """The holder as a store keeps it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Holder:
        """The holder that a store kept."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True, slots=True)
class Handover:
    """Runs that a process takes, which nobody else can have yet, and runs that it lets go."""

    holder: Holder
    taken: Sequence[str] = ()
    released: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.taken or self.released)


def myself() -> Holder:
    """This process."""
    return Holder(socket.gethostname(), _boot(), _space(), os.getpid(), _start(os.getpid()) or "")


def is_gone(holder: Holder, age: float) -> bool:
    """Whether the holder ended; on this machine that is known at once, elsewhere by its silence for `age` seconds."""
    if holder.host == socket.gethostname():
        if holder.boot != _boot():
            return True
        if holder.space == _space():
            return _start(holder.pid) != holder.start
    return age > EXPIRY


def _start(pid: int) -> str | None:
    """When a process began, in the system's own terms; None where there is none (or only a zombie)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None if sys.platform == "linux" else _start_by_ps(pid)
    return None if fields[0] in "ZX" else fields[19]


def _start_by_ps(pid: int) -> str | None:
    try:
        done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
