"""What the figures were measured on: the machine, the versions, the commit."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
import time
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]


def machine() -> dict[str, str]:
    """The machine, the versions and the commit, each in a few words."""
    load, system = os.getloadavg()[0], f"{platform.system()} {platform.release().partition('-')[0]}"
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory()}, {system}",
        "load": f"{load:.1f} processes waiting for a core at the start",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: metadata.version(name) for name in ("goalwright", "litellm")},
    }


def commit() -> str:
    """The commit, and whether files differ from it."""
    try:
        name = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", ".", ":!docs/benchmarks*")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} with changes" if changed else name


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def processor() -> str:
    """The processor's name, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    found = re.search(r"^(?:model name|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()


def memory() -> str:
    """The memory of the machine."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
