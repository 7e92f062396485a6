"""Confinement by bubblewrap: namespaces for users, mounts, processes and network, and no capabilities."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.confinement import cgroup, seccomp, system_paths
from skills.confinement.box import Launch
from skills.confinement.cgroup import Groups

if TYPE_CHECKING:
    from pathlib import Path

    from skills.confinement.box import Box, Command, ResourceLimits

NAMESPACES = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)
# Shells differ in the option for processes; within the namespace only this call's processes count.
LIMIT = (
    "ulimit -c 0; ulimit -t {cpu}; ulimit -d {memory}; ulimit -f {blocks}; ulimit -n {files}; "
    '{{ (ulimit -u {processes}) 2>/dev/null && ulimit -u {processes}; }} || ulimit -p {processes}; exec "$@"'
)


@dataclass(frozen=True, slots=True)
class BubblewrapConfinement:
    """Paths that are not mounted do not exist inside; the others are read-only unless writable."""

    program: str
    home: Path
    groups: Groups = field(default_factory=lambda: Groups(cgroup.root()), compare=False)
    name: str = "bubblewrap"
    refusal: str = ""

    def launch(self, command: Command, box: Box) -> Launch:
        """Bubblewrap with the box as its mounts; it reads the seccomp filter from an open file."""
        group = self.groups.acquire(box.limits.processes)
        argv = [*cgroup.entry(group), self.program, *NAMESPACES]
        if not box.network:
            argv.append("--unshare-net")
        argv += ["--dir", str(box.cwd.resolve())]
        for path in self._visible(command, box):
            if path.is_symlink():
                argv += ["--symlink", str(path.readlink()), str(path)]
            else:
                argv += ["--ro-bind-try", str(path), str(path)]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        for path in box.writable:
            argv += ["--bind", str(path.resolve()), str(path.resolve())]
        argv += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(box.cwd.resolve())]
        fds = _filter(network=box.network)
        for fd in fds:
            argv += ["--seccomp", str(fd)]
        argv += ["--", "/bin/sh", "-c", _limits(box.limits), "sh", *command.argv]
        return Launch(tuple(argv), fds, lambda: self.groups.release(group))

    def _visible(self, command: Command, box: Box) -> list[Path]:
        system_roots = system_paths.roots(network=box.network)
        own = system_paths.visible((*command.reads, *box.readable), self.home)
        return [*system_roots, *(path for path in own if not any(map(path.is_relative_to, system_roots)))]


def _filter(*, network: bool) -> tuple[int, ...]:
    """The filter as an open file; empty if the system calls are unknown, since the namespaces still hold."""
    program = seccomp.current(network=network, strict=False)
    if not program:
        return ()
    fd = os.memfd_create("weft-seccomp")
    os.write(fd, program)
    os.lseek(fd, 0, os.SEEK_SET)
    return (fd,)


def _limits(limits: ResourceLimits) -> str:
    return LIMIT.format(
        cpu=limits.cpu,
        memory=limits.memory // 1024,
        blocks=limits.file_size // 512,
        files=limits.open_files,
        processes=limits.processes,
    )


@functools.cache
def working() -> str:
    """The path of bubblewrap if it can create its namespaces here; empty otherwise."""
    program = shutil.which("bwrap")
    if program is None:
        return ""
    probe = [
        program,
        *NAMESPACES,
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "true",
    ]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return program if done.returncode == 0 else ""
