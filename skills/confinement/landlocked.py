"""Confinement by Landlock and seccomp, where there is no bubblewrap; and the same without walls."""

from __future__ import annotations

import base64
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.confinement import cgroup, landlock, seccomp, system
from skills.confinement.box import Launch

if TYPE_CHECKING:
    from skills.confinement.box import Box, Command, Limits

LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True, slots=True)
class Landlocked:
    """Rules on files by Landlock, on system calls by seccomp, limits by the kernel's resource limits."""

    home: Path
    abi: int
    name: str = "landlock+seccomp"
    refusal: str = ""

    def launch(self, command: Command, box: Box) -> Launch:
        """The launcher with the box as its orders."""
        machine = seccomp.machine()
        if machine is None:
            raise OSError("this machine's system calls are unknown")
        readable = system.visible((*command.reads, *box.readable), self.home)
        writable = [path.resolve() for path in box.writable]
        walls = {
            "ruleset": landlock.ruleset(readable, writable, self.abi),
            "filter": base64.b64encode(seccomp.program(machine, network=box.network, strict=True)).decode(),
        }
        return _launched(command, box.limits, walls)


@dataclass(frozen=True, slots=True)
class Unconfined:
    """No walls, by the user's word; limits hold, and the process group still ends with the call."""

    name: str = "none"
    refusal: str = ""

    def launch(self, command: Command, box: Box) -> Launch:
        """The launcher without walls."""
        return _launched(command, box.limits, {})


def _launched(command: Command, limits: Limits, walls: dict[str, Any]) -> Launch:
    group, entry = cgroup.entered(limits)
    script = command.argv[-1] if command.python else ""
    python = command.argv[0] if command.python else sys.executable
    orders = walls | {
        "parent": os.getpid(),
        "argv": command.argv,
        "script": script,
        "limits": {
            "RLIMIT_CPU": limits.cpu,
            "RLIMIT_DATA": limits.memory,
            "RLIMIT_FSIZE": limits.file_size,
            "RLIMIT_NOFILE": limits.open_files,
            "RLIMIT_CORE": 0,
        },
    }
    argv = (*entry, python, "-I", "-S", "-B", "-X", "utf8", str(LAUNCHER), json.dumps(orders))
    return Launch(argv, cgroup=group, gentle=True)
