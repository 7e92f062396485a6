"""Landlock as numbers: which rights the kernel handles, and a box as its rules."""

from __future__ import annotations

import ctypes
import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.confinement import system

if TYPE_CHECKING:
    from collections.abc import Iterable

CREATE_RULESET = 444
VERSION_FLAG = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, DEVICE_CONTROL = 1 << 14, 1 << 15
FIRST_RIGHTS = (1 << 13) - 1
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
READ = EXECUTE | READ_FILE | READ_DIR
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# A process sees its own entry in /proc too, which the launcher adds; another's would show its environment.
FACTS = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "sys/kernel/osrelease",
         "sys/vm/overcommit_memory", "sys/vm/max_map_count", "sys/kernel/ngroups_max")  # fmt: skip
HARDWARE = ("/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage")


@functools.cache
def version() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, VERSION_FLAG)))


def handled(abi: int) -> int:
    """Every right on files that this version knows: what is handled is denied unless a rule allows it."""
    rights = FIRST_RIGHTS
    for since, right in ((2, 1 << 13), (3, TRUNCATE), (5, DEVICE_CONTROL)):
        if abi >= since:
            rights |= right
    return rights


def ruleset(readable: Iterable[Path], writable: Iterable[Path], abi: int) -> dict[str, Any]:
    """The rules as the launcher takes them; signals and abstract sockets stay inside from version 6 on."""
    everything = handled(abi)
    rules: list[tuple[str, int]] = [(str(path), READ) for path in (*system.roots(), *readable)]
    rules += [(str(path), everything & ~DEVICE_CONTROL) for path in writable]
    rules += [(name, READ_FILE | WRITE_FILE) for name in DEVICES]
    rules += [(f"/proc/{name}", READ_FILE) for name in FACTS]
    rules += [(name, READ) for name in HARDWARE]
    return {
        "handled": everything,
        "scoped": 3 if abi >= 6 else 0,
        "rules": [
            (name, _narrowed(name, rights & everything)) for name, rights in rules if Path(name).exists()
        ],
    }


def _narrowed(name: str, rights: int) -> int:
    """The kernel refuses a folder's rights on a file."""
    return rights if Path(name).is_dir() else rights & FOR_FILES
