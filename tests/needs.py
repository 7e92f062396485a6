"""Requirements of tests on the machine: `@needs_go`, or `need("go")` inside a test.

A test whose requirement is missing is skipped by name, and the session ends with a line such as "skipped for want of:
go (7)". With CI set, a skip fails the session if the machine could have run the test. This is checked a second time by
other means than the product's, and a skip without a named requirement always fails.
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
from goalwright_skills.confinement.landlock_box import can_count
from tests.ray_cluster import space_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_REASON = re.compile(r"^(?:Skipped: )?needs ([\w -]+)$")


@dataclass(frozen=True)
class Need:
    """A requirement: whether the product finds it, and whether an independent check finds it."""

    here: Callable[[], bool]
    on_machine: Callable[[], bool]


def _program(name: str) -> Need:
    return Need(lambda: shutil.which(name) is not None, lambda: shutil.which(name) is not None)


def _packages(*names: str) -> bool:
    try:
        return all(find_spec(name) is not None for name in names)
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _bubblewrap_runs() -> bool:
    """Whether bubblewrap can create the namespaces that goalwright uses."""
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _landlock_answers() -> bool:
    """Whether the kernel reports a Landlock version."""
    known = platform.machine().lower() in ("x86_64", "aarch64")
    return known and int(ctypes.CDLL(None).syscall(444, None, 0, 1)) > 0


def _node_strips_types() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("tsx") is not None:
        return node is not None
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", shown)[:2])) >= (22, 18)


def _node_knows_modules() -> bool:
    """Whether Node detects ES modules by their syntax."""
    node = shutil.which("node")
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    version = tuple(map(int, re.findall(r"\d+", shown)[:2]))
    return version >= (22, 7) or (20, 19) <= version < (21, 0)


# The headless shell comes first, because it takes an eighth less CPU.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _browser() -> str | None:
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def chromium() -> str | None:
    """Return the system's browser, if playwright is installed."""
    return _browser() if _packages("playwright") else None


def _browser_starts() -> bool:
    """Whether the machine has a browser."""
    path = _browser()
    return path is not None and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def _not_root() -> bool:
    return os.geteuid() != 0


def _mounts() -> bool:
    """Whether a process may create mounts."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _ray_metrics() -> bool:
    """Whether the packages for Ray's metrics are installed (`ray[default]`)."""
    return _packages("ray", "aiohttp_cors", "grpc", "opentelemetry.exporter.prometheus", "prometheus_client")


def _spaces() -> bool:
    """Whether a process may create a PID namespace."""
    try:
        return subprocess.run([*space_command(), "true"], capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def _in_ci() -> bool:
    """Whether CI is set: failed downloads fail the test there, and skip it elsewhere."""
    return bool(os.environ.get("CI"))


NEEDS = {
    "node": _program("node"),
    "npm": _program("npm"),
    "npm registry": Need(_in_ci, _in_ci),
    "go": _program("go"),
    "git": _program("git"),
    "jq": _program("jq"),
    "typescript": Need(_node_strips_types, _node_strips_types),
    "es modules": Need(_node_knows_modules, _node_knows_modules),
    "chromium": Need(lambda: chromium() is not None, _browser_starts),
    "bubblewrap": Need(lambda: bool(bubblewrap.working()), _bubblewrap_runs),
    "landlock": Need(lambda: bool(landlock.version() and seccomp.machine()), _landlock_answers),
    "listed children": Need(can_count, lambda: Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()),
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
    """Skip the test unless the machine meets a requirement."""
    if not _here(name):
        pytest.skip(f"needs {name}")


def marked(item: pytest.Item) -> None:
    """Skip a marked test unless the machine meets its requirements."""
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


def skip_counts(reasons: Iterable[str]) -> Counter[str]:
    """Count skips by requirement; other reasons are kept as text."""
    return Counter(match[1] if (match := _REASON.match(reason)) else reason for reason in reasons)


def summary(reasons: Iterable[str]) -> str:
    """Return one line about skipped tests, or an empty string."""
    counted = sorted(skip_counts(reasons).items(), key=lambda item: (-item[1], item[0]))
    return "skipped for want of: " + ", ".join(f"{name} ({times})" for name, times in counted) if counted else ""


def inexcusable(reasons: Iterable[str]) -> list[str]:
    """Return a problem for each requirement that this machine does meet."""
    problems = []
    for name in skip_counts(reasons):
        if name not in NEEDS:
            problems.append(f"a test was skipped without a need of tests/needs.py: {name}")
        elif NEEDS[name].on_machine():
            problems.append(f"tests were skipped for want of {name}, which this machine has")
    return problems
