"""Landlock: the rights that the kernel handles, and the rules for a box."""

from __future__ import annotations

import ctypes
import errno
import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills.confinement import system_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_skills.confinement.view import View

CREATE_RULESET = 444
VERSION_FLAG = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, DEVICE_CONTROL = 1 << 14, 1 << 15
FIRST_RIGHTS = (1 << 13) - 1
MAX_RULES = 20_000
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
READ = EXECUTE | READ_FILE | READ_DIR
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# The launcher adds the process's own entry in /proc; other entries would reveal the environment of other processes.
PROC_FILES = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "sys/kernel/osrelease",
         "sys/vm/overcommit_memory", "sys/vm/max_map_count", "sys/kernel/ngroups_max")  # fmt: skip
HARDWARE = ("/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage")


@functools.cache
def version() -> int:
    """Return the kernel's Landlock version; 0 without Landlock."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, VERSION_FLAG)))


def handled(abi: int) -> int:
    """Return all rights on files in this version; a handled right is denied unless a rule grants it."""
    rights = FIRST_RIGHTS
    for since, right in ((2, 1 << 13), (3, TRUNCATE), (5, DEVICE_CONTROL)):
        if abi >= since:
            rights |= right
    return rights


def ruleset(
    readable: Iterable[Path], writable: Iterable[Path], views: Iterable[View], *, network: bool, abi: int
) -> dict[str, Any]:
    """Return the rules for the launcher; since version 6 they also confine signals and abstract sockets."""
    everything = handled(abi)
    paths = [(path, READ) for path in readable] + [(path, everything & ~DEVICE_CONTROL) for path in writable]
    rules = [(str(path), _applicable(path, rights)) for path, rights in paths]
    for view in views:
        rules += _view_rules(view)
    if len(rules) > MAX_RULES:
        problem = f"{len(rules)} files lie beside hidden ones such as .env or .git"
        raise OSError(errno.E2BIG, f"{problem}, which Landlock then cannot hide from a tool: move them into a folder")
    scoped = 3 if abi >= 6 else 0
    return {"handled": everything, "scoped": scoped, "rules": [*_common(network=network, abi=abi), *rules]}


def _view_rules(view: View) -> list[tuple[str, int]]:
    """Return the rules for a folder: one for all of it, or one for each entry beside a hidden one.

    In the latter case all its folders can be listed, also hidden ones: Landlock has no rule for one folder alone.
    """
    if view.whole:
        return [(view.root, _applicable(Path(view.root), READ))]
    rules = [(view.root, READ_DIR)]
    for path in view.beside:
        rights = READ if path.endswith("/") else READ & FOR_FILES
        rules.append((f"{view.root}/{path}", rights))
    return rules


@functools.cache
def _common(*, network: bool, abi: int) -> tuple[tuple[str, int], ...]:
    """Return the rules for every tool."""
    paths = [(path, READ) for path in system_paths.roots(network=network)]
    paths += [(Path(name), READ_FILE | WRITE_FILE) for name in DEVICES]
    paths += [(Path("/proc") / name, READ_FILE) for name in PROC_FILES]
    paths += [(Path(name), READ) for name in HARDWARE]
    everything = handled(abi)
    return tuple((str(path), _applicable(path, rights) & everything) for path, rights in paths if path.exists())


def _applicable(path: Path, rights: int) -> int:
    """Return the rights that apply to a path; the kernel refuses folder rights on a file."""
    return rights if path.is_dir() else rights & FOR_FILES
