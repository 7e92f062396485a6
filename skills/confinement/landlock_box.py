"""Confinement by Landlock and seccomp, where there is no bubblewrap; and the same without walls."""

from __future__ import annotations

import functools
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.confinement import cgroup, landlock, launcher, seccomp
from skills.confinement import system_paths as system
from skills.confinement.box import Launch
from skills.confinement.cgroup import Groups

if TYPE_CHECKING:
    from skills.confinement.box import Box, Command, ResourceLimits

# Imported rather than run as a script, for which Python would compile it at every call.
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); import launcher; {}del sys.path[0]; launcher.main({})"
UNCOUNTED, COUNTED = START.format("", ""), START.format("from process_gate import ProcessGate; ", "ProcessGate")
FOLDER = str(Path(launcher.__file__).parent)


@dataclass(frozen=True, slots=True)
class LandlockConfinement:
    """Rules on files by Landlock, on system calls by seccomp, limits by the kernel's resource limits."""

    home: Path
    abi: int
    groups: Groups = field(default_factory=lambda: Groups(cgroup.root()), compare=False)
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
            "ruleset": landlock.ruleset(readable, writable, network=box.network, abi=self.abi),
            "filter": seccomp.current(network=box.network, strict=True).hex(),
            "gate": seccomp.gate(machine).hex(),
            "seccomp": machine.seccomp,
        }
        return _launched(command, box.limits, walls, self.groups)


@dataclass(frozen=True, slots=True)
class NoConfinement:
    """No walls, by the user's word; limits hold, and the process group still ends with the call."""

    groups: Groups = field(default_factory=lambda: Groups(cgroup.root()), compare=False)
    name: str = "none"
    refusal: str = ""

    def launch(self, command: Command, box: Box) -> Launch:
        """The launcher without walls."""
        return _launched(command, box.limits, {}, self.groups)


@functools.cache
def counts() -> bool:
    """Whether the launcher can count a tool's processes where no control group does: this kernel lists children."""
    return Path("/proc/thread-self/children").exists()


def _launched(command: Command, limits: ResourceLimits, walls: dict[str, Any], groups: Groups) -> Launch:
    group = groups.take(limits.processes)
    counted = group is None and counts()
    script = command.argv[-1] if command.python else ""
    python = command.argv[0] if command.python else sys.executable
    orders = walls | {
        "parent": os.getpid(),
        "group": str(group or ""),
        "processes": limits.processes,
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
    argv = (
        python,
        "-I",
        "-S",
        "-B",
        "-X",
        "utf8",
        "-c",
        COUNTED if counted else UNCOUNTED,
        FOLDER,
        json.dumps(orders),
    )
    return Launch(argv, done=lambda: groups.give(group), gentle=True)
