"""Confinement by Landlock and seccomp, for machines without bubblewrap, and the same launcher without confinement."""

from __future__ import annotations

import functools
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills.confinement import cgroup, landlock, launcher, seccomp, system_paths
from goalwright_skills.confinement.box import Launch, memory_file
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.confinement.memory import Watchers, watched

if TYPE_CHECKING:
    from goalwright_skills.confinement.box import Box, Command, ResourceLimits

# The launcher is imported, because Python would compile a script at every call.
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); import launcher; {}del sys.path[0]; launcher.main({})"
UNCOUNTED, COUNTED = START.format("", ""), START.format("from process_gate import ProcessGate; ", "ProcessGate")
FOLDER = str(Path(launcher.__file__).parent)
UNCONFINED = "none"
LONGEST_ARGUMENT = 100_000  # the kernel allows 128 KiB


@dataclass(frozen=True, slots=True)
class LandlockConfinement:
    """Landlock for files, seccomp for system calls, and the kernel's resource limits."""

    home: Path
    abi: int
    groups: Groups = field(default_factory=lambda: Groups(cgroup.root(), cgroup.memory_root()), compare=False)
    watchers: Watchers = field(default_factory=Watchers, compare=False)
    name: str = "landlock+seccomp"
    refusal: str = ""
    bridges: bool = False

    def launch(self, command: Command, box: Box) -> Launch:
        """Return the launcher with the box as its orders."""
        machine = seccomp.machine()
        if machine is None:
            raise OSError("this machine's architecture is not supported")
        readable = system_paths.visible(command.reads, self.home)
        writable = [path.resolve() for path in box.writable]
        views = [box.views.of(path) for path in (*system_paths.visible(box.readable, self.home), *box.shown)]
        restrictions = {
            "ruleset": landlock.ruleset(readable, writable, views, network=box.network, abi=self.abi),
            "filter": seccomp.current(network=box.network, strict=True, abi=self.abi).hex(),
            "gate": seccomp.gate(machine).hex(),
            "seccomp": machine.seccomp,
        }
        return _launch(command, box.limits, restrictions, self.groups, self.watchers)


@dataclass(frozen=True, slots=True)
class NoConfinement:
    """No confinement, at the user's request; limits still hold, and the process group still ends with the call."""

    groups: Groups = field(default_factory=lambda: Groups(cgroup.root(), cgroup.memory_root()), compare=False)
    watchers: Watchers = field(default_factory=Watchers, compare=False)
    name: str = UNCONFINED
    refusal: str = ""
    bridges: bool = False

    def launch(self, command: Command, box: Box) -> Launch:
        """Return the launcher without confinement."""
        return _launch(command, box.limits, {}, self.groups, self.watchers)


@functools.cache
def can_count() -> bool:
    """Whether the launcher can count a tool's processes without a control group, because the kernel lists children."""
    return Path("/proc/thread-self/children").exists()


def _launch(
    command: Command, limits: ResourceLimits, restrictions: dict[str, Any], groups: Groups, watchers: Watchers
) -> Launch:
    group = groups.acquire(limits)
    is_counted = (group is None or group.processes is None) and can_count()
    script = command.argv[-1] if command.python else ""
    python = command.argv[0] if command.python else sys.executable
    orders = restrictions | {
        "parent": os.getpid(),
        "groups": group.folders if group is not None else (),
        "processes": limits.processes,
        "argv": command.argv,
        "env": dict(command.env),
        "script": script,
        "limits": {
            "RLIMIT_CPU": limits.cpu,
            "RLIMIT_DATA": limits.memory,
            "RLIMIT_FSIZE": limits.file_size,
            "RLIMIT_NOFILE": limits.open_files,
            "RLIMIT_CORE": 0,
        },
    }
    text = json.dumps(orders)
    fds: tuple[int, ...] = ()
    if command.env or len(text) > LONGEST_ARGUMENT:  # other users can read a command line, and values may be secret
        orders_fd = memory_file("goalwright-orders", text.encode())
        text, fds = f"@{orders_fd}", (orders_fd,)
    argv = (python, *system_paths.ISOLATED, "-c", COUNTED if is_counted else UNCOUNTED, FOLDER, text)
    watch = watched(group, limits, watchers, gentle=True)
    return Launch(argv, fds, lambda: groups.release(group, limits), watch, gentle=True)
