"""What some tests need of the machine: `@needs_go`, or `need("go")` inside a test.

Where it is missing the test is skipped by name, and the session ends with one line: "skipped for want of: go (7)".
With CI=1 a skip fails the session where the machine could have run the test: each need looks a second time, by other
means than the product's own, and a skip that names no need has no excuse.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.backends.catalogue import read
from goalwright.models.local.backends.machine import this_machine
from goalwright.settings.default_model import local_is_installed
from goalwright_skills.confinement import bubblewrap, cgroup, landlock, seccomp
from goalwright_skills.confinement.landlock_box import counts
from tests.ray_cluster import space_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_REASON = re.compile(r"^(?:Skipped: )?needs ([\w -]+)$")


@dataclass(frozen=True)
class Need:
    """Whether it is here, as the tests see it, and whether the machine has it, looked at independently."""

    here: Callable[[], bool]
    on_machine: Callable[[], bool]


def _program(name: str) -> Need:
    return Need(lambda: shutil.which(name) is not None, lambda: shutil.which(name) is not None)


def _packages(*names: str) -> bool:
    try:
        return all(find_spec(name) is not None for name in names)
    except ModuleNotFoundError:  # of a package that one of them would be in
        return False


def _bubblewrap_runs() -> bool:
    """Whether bubblewrap can make the namespaces that goalwright asks for."""
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _landlock_answers() -> bool:
    """Whether the kernel tells a Landlock version on a machine whose system calls are known."""
    known = platform.machine().lower() in ("x86_64", "aarch64")
    return known and int(ctypes.CDLL(None).syscall(444, None, 0, 1)) > 0


def _node_strips_types() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("tsx") is not None:
        return node is not None
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", shown)[:2])) >= (22, 18)


def _node_knows_modules() -> bool:
    """Whether Node reads a module without being told that it is one."""
    node = shutil.which("node")
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    version = tuple(map(int, re.findall(r"\d+", shown)[:2]))
    return version >= (22, 7) or (20, 19) <= version < (21, 0)


# The first has no window to draw, and takes an eighth less CPU time.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _browser() -> str | None:
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def chromium() -> str | None:
    """The browser that the tests of the page drive: the system's own."""
    return _browser() if _packages("playwright") else None


def _browser_starts() -> bool:
    """Whether the machine has one, with or without the package that drives it."""
    path = _browser()
    return path is not None and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def _not_root() -> bool:
    return os.geteuid() != 0


def _mounts() -> bool:
    """Whether a process may have mounts of its own."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _ray_metrics() -> bool:
    """Whether Ray has what its metrics need, which `ray[default]` brings."""
    return _packages("ray", "aiohttp_cors", "grpc", "opentelemetry.exporter.prometheus", "prometheus_client")


def _spaces() -> bool:
    """Whether a process may have a PID namespace of its own."""
    try:
        return subprocess.run([*space_command(), "true"], capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _counted_on() -> bool:
    """Whether the network is: what cannot be fetched from it is an error in CI, and a skip by name elsewhere."""
    return bool(os.environ.get("CI"))


NEEDS = {
    "node": _program("node"),
    "npm": _program("npm"),
    "npm registry": Need(_counted_on, _counted_on),
    "go": _program("go"),
    "git": _program("git"),
    "jq": _program("jq"),
    "typescript": Need(_node_strips_types, _node_strips_types),
    "es modules": Need(_node_knows_modules, _node_knows_modules),
    "chromium": Need(lambda: chromium() is not None, _browser_starts),
    "bubblewrap": Need(lambda: bool(bubblewrap.working()), _bubblewrap_runs),
    "landlock": Need(lambda: bool(landlock.version() and seccomp.machine()), _landlock_answers),
    "listed children": Need(counts, lambda: Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()),
    "counted processes": Need(
        lambda: _not_root() or cgroup.root() is not None, lambda: _not_root() or cgroup.root() is not None
    ),
    "memory groups": Need(lambda: cgroup.memory_root() is not None, lambda: cgroup.memory_root() is not None),
    "mounts": Need(_mounts, _mounts),
    "pid namespaces": Need(_spaces, _spaces),
    "ray metrics": Need(_ray_metrics, _ray_metrics),
    "non-root user": Need(_not_root, _not_root),
    "arm dot product": Need(
        lambda: any(entry.needs.is_for(this_machine()) and not entry.needs.lacking(this_machine()) for entry in read()),
        lambda: platform.machine() == "aarch64" and " asimddp" in Path("/proc/cpuinfo").read_text(encoding="utf-8"),
    ),
    "local": Need(local_is_installed, lambda: _packages("xllamacpp")),
}


@functools.cache
def _here(name: str) -> bool:
    return NEEDS[name].here()


def need(name: str) -> None:
    """Skip the test unless the machine has this."""
    if not _here(name):
        pytest.skip(f"needs {name}")


def marked(item: pytest.Item) -> None:
    """Skip a marked test unless the machine has all that it needs."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            need(name)


needs_node = pytest.mark.needs("node")
needs_npm = pytest.mark.needs("node", "npm")
needs_go = pytest.mark.needs("go")
needs_git = pytest.mark.needs("git")
needs_es_modules = pytest.mark.needs("es modules")
needs_chromium = pytest.mark.needs("chromium")
needs_bubblewrap = pytest.mark.needs("bubblewrap")
needs_landlock = pytest.mark.needs("landlock")
needs_listed_children = pytest.mark.needs("listed children")
needs_counted_processes = pytest.mark.needs("counted processes")
needs_memory_groups = pytest.mark.needs("memory groups")
needs_mounts = pytest.mark.needs("mounts")
needs_pid_namespaces = pytest.mark.needs("pid namespaces")
needs_ray_metrics = pytest.mark.needs("ray metrics")
needs_non_root = pytest.mark.needs("non-root user")
needs_local = pytest.mark.needs("local")


def wanted(reasons: Iterable[str]) -> Counter[str]:
    """How many tests were skipped for want of what; other reasons stand as they are."""
    return Counter(found[1] if (found := _REASON.match(reason)) else reason for reason in reasons)


def summary(reasons: Iterable[str]) -> str:
    """The one line about skipped tests; empty where none was."""
    counted = sorted(wanted(reasons).items(), key=lambda one: (-one[1], one[0]))
    return "skipped for want of: " + ", ".join(f"{name} ({times})" for name, times in counted) if counted else ""


def inexcusable(reasons: Iterable[str]) -> list[str]:
    """The skips that this machine could have run, each with why."""
    found = []
    for name in wanted(reasons):
        if name not in NEEDS:
            found.append(f"a test was skipped without a need of tests/needs.py: {name}")
        elif NEEDS[name].on_machine():
            found.append(f"tests were skipped for want of {name}, which this machine has")
    return found
