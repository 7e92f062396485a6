"""The machine, versions and commit of a measurement."""

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
    """Describe the machine, the versions and the commit."""
    load, system = os.getloadavg()[0], f"{platform.system()} {platform.release().partition('-')[0]}"
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory()}, {system}",
        "load": f"{load:.1f} load average at the start",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: metadata.version(name) for name in ("goalwright", "litellm")},
    }


def commit() -> str:
    """Return the commit, marked if files differ from it."""
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
    """Return the processor's name, or its architecture if the name is unknown."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    match = re.search(r"^(?:model name|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1] if match else platform.machine()


def memory() -> str:
    """Return the size of the memory."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
