"""Reads the entry points of installed packages directly from their `entry_points.txt`.

Importing `importlib.metadata` would take longer than listing thousands of skills.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = (".dist-info", ".egg-info")
# A package is installed file by file: a folder that changed in the last ten seconds may still lack some.
_SETTLED = 10_000_000_000


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A name, the object it refers to (`module:attribute`), and its package."""

    name: str
    value: str
    package: str

    def load(self) -> Any:
        """Import the object."""
        module, _, attributes = self.value.partition(":")
        return reduce(getattr, filter(None, attributes.split(".")), import_module(module))


def entry_points(group: str, path: Sequence[str] | None = None) -> list[EntryPoint]:
    """Return the entry points of a group in all packages on `path` (`sys.path` by default), sorted by name."""
    points: dict[str, EntryPoint] = {}
    for package, text in _files(sys.path if path is None else path):
        if f"[{group}]" in text:
            for point in parse(text, group, package):
                points.setdefault(point.name, point)
    return [points[name] for name in sorted(points)]


def parse(text: str, group: str, package: str = "") -> Iterator[EntryPoint]:
    """Yield the entry points of one group in an `entry_points.txt`."""
    in_group = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            in_group = line == f"[{group}]"
        elif in_group and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), package)


def _files(path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each package with the text of its file; only the first package of a name counts, as in imports."""
    seen: set[str] = set()
    for folder in path:
        for package, text in _packages(folder or os.curdir):
            if package not in seen:
                seen.add(package)
                yield package, text


def _packages(folder: str) -> Sequence[tuple[str, str]]:
    """Return the packages of a folder; cached until the folder changes, since every run needs them."""
    try:
        status = os.stat(folder)
    except OSError:
        return ()
    is_settled = time.time_ns() - status.st_mtime_ns > _SETTLED
    read = _read if is_settled else _read.__wrapped__
    return read(folder, status.st_dev, status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _read(folder: str, *_: int) -> tuple[tuple[str, str], ...]:
    """Return the packages of a folder in this state, each with the text of its file."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_KINDS))
    except OSError:
        return ()
    return tuple((name.partition("-")[0].lower().replace("_", "-"), _text(f"{folder}/{name}")) for name in names)


def _text(package: str) -> str:
    try:
        with open(f"{package}/entry_points.txt", encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
