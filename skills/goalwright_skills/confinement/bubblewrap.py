"""Confinement by bubblewrap: namespaces for users, mounts, processes and network, and no capabilities."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.confinement import cgroup, network_bridge, seccomp, system_paths
from goalwright_skills.confinement.box import Launch, memory_file
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.confinement.memory import Watchers, watched

if TYPE_CHECKING:
    from goalwright_skills.confinement.box import Box, Command, ResourceLimits
    from goalwright_skills.confinement.view import View

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
MAX_ARGUMENTS = 1_000  # more are passed in a file
# Shells differ in the option for processes; within the namespace only this call's processes count.
LIMIT = (
    "ulimit -c 0; ulimit -t {cpu}; ulimit -d {memory}; ulimit -f {blocks}; ulimit -n {files}; "
    '{{ (ulimit -u {processes}) 2>/dev/null && ulimit -u {processes}; }} || ulimit -p {processes}; exec "$@"'
)


@dataclass(frozen=True, slots=True)
class BubblewrapConfinement:
    """Bubblewrap: paths that are not mounted do not exist inside; the others are read-only unless writable."""

    program: str
    home: Path
    groups: Groups = field(default_factory=lambda: Groups(cgroup.root(), cgroup.memory_root()), compare=False)
    watchers: Watchers = field(default_factory=Watchers, compare=False)
    name: str = "bubblewrap"
    refusal: str = ""
    bridges: bool = True

    def launch(self, command: Command, box: Box) -> Launch:
        """Return bubblewrap with the box as its mounts; it reads the seccomp filter from an open file."""
        group = self.groups.acquire(box.limits)
        argv = [*NAMESPACES]
        if not box.network:
            argv.append("--unshare-net")
        argv += ["--dir", str(box.cwd.resolve())]
        for path in self._visible(command, box):
            if path.is_symlink():
                argv += ["--symlink", str(path.readlink()), str(path)]
            else:
                argv += ["--ro-bind-try", str(path), str(path)]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        covers = _Covers(box, system_paths.visible(box.readable, self.home))
        argv += covers.mounts()
        for path in box.writable:
            argv += ["--bind", str(path.resolve()), str(path.resolve())]
        for name in (*covers.folders, "/dev", "/"):
            argv += ["--remount-ro", name]
        argv += ["--chdir", str(box.cwd.resolve())]
        fds = _filter(network=box.network or box.bridge is not None)
        for fd in fds:
            argv += ["--seccomp", str(fd)]
        inner = command.argv
        if box.bridge is not None:
            bridge = os.dup(box.bridge)  # the caller keeps its own
            inner = (sys.executable, *system_paths.ISOLATED, network_bridge.__file__, str(bridge), *inner)
            fds = (*fds, bridge)
        start = [*cgroup.entry(group), self.program]
        for name, value in command.env.items():
            argv += ["--setenv", name, value]
        if command.env or len(argv) > MAX_ARGUMENTS:  # other users can read a command line, and values may be secret
            if any("\0" in word for word in argv):  # it separates the arguments
                raise OSError("a variable or a path contains a NUL character")
            options = memory_file("goalwright-mounts", os.fsencode("\0".join(argv)))
            argv, fds = ["--args", str(options)], (*fds, options)
        argv = [*start, *argv, "--", "/bin/sh", "-c", _limits(box.limits), "sh", *inner]
        watch = watched(group, box.limits, self.watchers, gentle=False)
        return Launch(tuple(argv), fds, lambda: self.groups.release(group, box.limits), watch)

    def _visible(self, command: Command, box: Box) -> list[Path]:
        system_roots = system_paths.roots(network=box.network or box.bridge is not None)
        bridge = (*system_paths.interpreter(), Path(network_bridge.__file__)) if box.bridge is not None else ()
        paths = system_paths.visible((*command.reads, *box.readable, *bridge), self.home)
        return [*system_roots, *(path for path in paths if not any(map(path.is_relative_to, system_roots)))]


class _Covers:
    """The mounts over hidden parts of mounted folders: an empty folder, or for a file a device that nobody can open.

    A `shown` path in them is mounted over its cover, with its own hidden parts covered again.
    """

    def __init__(self, box: Box, readable: list[Path]) -> None:
        self.folders: list[str] = []
        self.files: list[str] = []
        self.shown: list[tuple[str, str]] = []
        for path in readable:
            self._cover(str(path), box.views.of(path))
        above = {*self.folders, *self.files}
        for path in box.shown:
            real = str(path.resolve())
            for name in dict.fromkeys((str(path.absolute()), real)):
                if name in above or any(str(parent) in above for parent in Path(name).parents):
                    self.shown.append((real, name))
                    self._cover(name, box.views.of(path))

    def _cover(self, root: str, view: View) -> None:
        if Path(root).is_symlink():
            return  # its target is covered under its own name
        # A deleted path cannot be covered, and a path that became a link leads elsewhere.
        folders = [f"{root}/{name}" if name else root for name in view.folders]
        self.folders += [name for name in folders if Path(name).is_dir() and not Path(name).is_symlink()]
        files = [f"{root}/{name}" for name in view.files]
        self.files += [name for name in files if Path(name).exists() and not Path(name).is_symlink()]

    def mounts(self) -> list[str]:
        """Return the arguments for bubblewrap, outer covers first."""
        covers: list[tuple[str, tuple[str, ...]]] = [(name, ("--tmpfs", name)) for name in self.folders]
        covers += [(name, ("--ro-bind", "/dev/null", name)) for name in self.files]
        covers += [(name, ("--ro-bind", real, name)) for real, name in self.shown]
        # The sort is stable: a shown file comes after the cover of the same name.
        return [word for _, words in sorted(covers, key=lambda cover: cover[0].count("/")) for word in words]


def _filter(*, network: bool) -> tuple[int, ...]:
    """Return the filter as an open file; empty on other architectures, where the namespaces still hold."""
    program = seccomp.current(network=network, strict=False)
    if not program:
        return ()
    return (memory_file("goalwright-seccomp", program),)


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
    """Return the path of bubblewrap if it can create its namespaces here; otherwise an empty string."""
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
        process = subprocess.run(probe, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return program if process.returncode == 0 else ""
