"""Leases: which process is using a run, and whether that process is alive."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

# Seconds between heartbeats, and the age at which a holder on another machine is considered dead.
BEAT = 5.0
EXPIRY = 60.0
# The same for a store that several machines share.
SHARED_EXPIRY = 30.0

# A request to the process that holds a run: stop the run, or its whole batch.
StopRequest = Literal["stop", "stop_batch"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A process: its host, boot, PID namespace, PID, start time and machine id."""

    host: str
    boot: str
    space: str
    pid: int
    start: str
    machine: str = ""

    def to_json(self) -> str:
        """The holder as it is stored."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Holder:
        """The holder from its stored form."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True, slots=True)
class Handover:
    """Lease changes of one process: new runs that it takes, and runs that it releases.

    `held` are the written runs whose leases this process must still have.
    """

    holder: Holder
    taken: Sequence[str] = ()
    released: Sequence[str] = ()
    held: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.taken or self.released)


def myself() -> Holder:
    """This process."""
    return Holder(socket.gethostname(), _boot(), _space(), os.getpid(), _start(os.getpid()) or "", _machine())


def is_gone(holder: Holder, age: float) -> bool:
    """Whether the holder is dead: certain on this machine, elsewhere by the `age` of its last heartbeat."""
    if holder.host == socket.gethostname():
        if holder.boot != _boot():
            return True
        if holder.space == _space():
            return _start(holder.pid) != holder.start
    return age > EXPIRY


def is_gone_for_all(holder: Holder, age: float) -> bool:
    """Whether the holder is dead, for a store that several machines share: host names may be equal.

    The process table counts only if machine, boot and PID namespace are those of this process.
    """
    here = (_machine(), _boot(), _space())
    if all(here[1:]) and here == (holder.machine, holder.boot, holder.space):
        return _start(holder.pid) != holder.start
    return age > SHARED_EXPIRY


def _start(pid: int) -> str | None:
    """Return a process's start time from the operating system; None if it does not exist or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None if sys.platform == "linux" else _start_by_ps(pid)
    return None if fields[0] in "ZX" else fields[19]


def _start_by_ps(pid: int) -> str | None:
    try:
        completed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return completed.stdout.strip() or None


def _machine() -> str:
    return _text("/etc/machine-id")


def _boot() -> str:
    return _text("/proc/sys/kernel/random/boot_id")


@cache
def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
