"""Landlock's numbers: the rights that the kernel handles, and the rules for a box."""

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
MOST_RULES = 20_000
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
READ = EXECUTE | READ_FILE | READ_DIR
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# The launcher adds a process's own entry in /proc; that of another process would reveal its environment.
FACTS = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "sys/kernel/osrelease",
         "sys/vm/overcommit_memory", "sys/vm/max_map_count", "sys/kernel/ngroups_max")  # fmt: skip
HARDWARE = ("/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage")


@functools.cache
def version() -> int:
    """The kernel's Landlock version; 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, VERSION_FLAG)))


def handled(abi: int) -> int:
    """Every right on files that this version knows: a handled right is denied unless a rule grants it."""
    rights = FIRST_RIGHTS
    for since, right in ((2, 1 << 13), (3, TRUNCATE), (5, DEVICE_CONTROL)):
        if abi >= since:
            rights |= right
    return rights


def ruleset(
    readable: Iterable[Path], writable: Iterable[Path], views: Iterable[View], *, network: bool, abi: int
) -> dict[str, Any]:
    """The rules for the launcher; from version 6 on, signals and abstract sockets stay inside too."""
    everything = handled(abi)
    own = [(path, READ) for path in readable] + [(path, everything & ~DEVICE_CONTROL) for path in writable]
    rules = [(str(path), _for_path(path, rights)) for path, rights in own]
    for view in views:
        rules += _of_view(view)
    if len(rules) > MOST_RULES:
        what = f"{len(rules)} files stand beside hidden ones such as .env or .git"
        raise OSError(errno.E2BIG, f"{what}, which Landlock cannot hide from a tool: move them into a folder")
    scoped = 3 if abi >= 6 else 0
    return {"handled": everything, "scoped": scoped, "rules": [*_common(network=network, abi=abi), *rules]}


def _of_view(view: View) -> list[tuple[str, int]]:
    """The rules for a folder: one for all of it, or one for each entry beside what is hidden.

    Then its folders can be listed, those with hidden names included: Landlock has no rule for one folder alone.
    """
    if view.whole:
        return [(view.root, _for_path(Path(view.root), READ))]
    rules = [(view.root, READ_DIR)]
    for path in view.beside:
        rights = READ if path.endswith("/") else READ & FOR_FILES
        rules.append((f"{view.root}/{path}", rights))
    return rules


@functools.cache
def _common(*, network: bool, abi: int) -> tuple[tuple[str, int], ...]:
    """The rules that every tool gets."""
    wanted = [(path, READ) for path in system_paths.roots(network=network)]
    wanted += [(Path(name), READ_FILE | WRITE_FILE) for name in DEVICES]
    wanted += [(Path("/proc") / name, READ_FILE) for name in FACTS]
    wanted += [(Path(name), READ) for name in HARDWARE]
    everything = handled(abi)
    return tuple((str(path), _for_path(path, rights) & everything) for path, rights in wanted if path.exists())


def _for_path(path: Path, rights: int) -> int:
    """The rights that apply to a path: the kernel refuses those of a folder on a file."""
    return rights if path.is_dir() else rights & FOR_FILES
