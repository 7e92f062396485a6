"""What installed packages offer in an entry-point group, read straight from their `entry_points.txt`.

The only place that reads entry points: importing `importlib.metadata` takes longer than listing thousands of skills.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = (".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A name, the object it refers to (`module:attribute`), and the package that offers it."""

    name: str
    value: str
    package: str

    def load(self) -> Any:
        """Import the object."""
        module, _, attributes = self.value.partition(":")
        return reduce(getattr, filter(None, attributes.split(".")), import_module(module))


def entry_points(group: str, path: Sequence[str] | None = None) -> list[EntryPoint]:
    """What all packages on `path` (`sys.path` by default) offer in a group, sorted by name."""
    found: dict[str, EntryPoint] = {}
    for package, text in _files(sys.path if path is None else path):
        if f"[{group}]" in text:
            for point in parse(text, group, package):
                found.setdefault(point.name, point)
    return [found[name] for name in sorted(found)]


def parse(text: str, group: str, package: str = "") -> Iterator[EntryPoint]:
    """The entry points of one group in an `entry_points.txt`."""
    here = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            here = line == f"[{group}]"
        elif here and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), package)


def _files(path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each package with the text of its file; only the first of a name counts, since that one gets imported."""
    seen: set[str] = set()
    for folder in path:
        try:
            names = sorted(os.listdir(folder or os.curdir))
        except OSError:
            continue
        for name in names:
            package = name.partition("-")[0].lower().replace("_", "-")
            if name.endswith(_KINDS) and package not in seen:
                seen.add(package)
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                        yield package, file.read()
                except (OSError, UnicodeDecodeError):
                    continue
