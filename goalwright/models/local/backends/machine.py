"""The platform, processor and free cores of this machine."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CPUINFO = Path("/proc/cpuinfo")
_CPUINFO_BYTES = 1 << 20
_FEATURES = re.compile(r"^(?:Features|flags)\s*:(.*)$", re.MULTILINE)
_NAMES = re.compile(r"^(?:model name|CPU implementer|CPU variant|CPU part|CPU revision)\s*:\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Platform:
    """System and architecture as Python names them, the processor and its instructions, and glibc's version."""

    system: str
    architecture: str
    cpu: str = ""
    instructions: frozenset[str] = frozenset()
    glibc: tuple[int, ...] = ()


def this_machine() -> Platform:
    """The machine that this process runs on."""
    try:
        with _CPUINFO.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_CPUINFO_BYTES)
    except OSError:
        text = ""
    return parse(text, sys.platform, platform.machine().lower(), _glibc())


def parse(cpuinfo: str, system: str, architecture: str, glibc: tuple[int, ...]) -> Platform:
    """Parse /proc/cpuinfo; only instructions of all cores count."""
    cores = [frozenset(line.split()) for line in _FEATURES.findall(cpuinfo)]
    common = frozenset.intersection(*cores) if cores else frozenset()
    name = " ".join(dict.fromkeys(_NAMES.findall(cpuinfo))) or platform.processor()
    return Platform(system, architecture, name, common, glibc)


def cores() -> Sequence[int]:
    """The CPUs that this process may use; in a container, they may be fewer than the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def free_cores(seconds: float = 0.2) -> int:
    """The number of cores, at least one, that other processes of normal priority do not use right now."""
    allowed = len(cores())
    before, started = _others(), time.monotonic()
    if before is None:
        return allowed
    time.sleep(seconds)
    after, elapsed = _others(), time.monotonic() - started
    busy = max(0.0, (after or before) - before) / elapsed
    return max(1, min(allowed, round((os.cpu_count() or allowed) - busy)))


def _others() -> float | None:
    """The CPU seconds of all other processes at normal priority; None without /proc."""
    try:
        with Path("/proc/stat").open(encoding="utf-8") as file:
            _, user, _nice, system, *_ = file.readline().split()
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") - time.process_time()
    except (OSError, ValueError):
        return None


def _glibc() -> tuple[int, ...]:
    """The version of glibc; empty with another C library, such as musl."""
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError, AttributeError):
        return ()
    return tuple(map(int, re.findall(r"\d+", version)))
