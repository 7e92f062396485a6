"""The parts of a machine that every program needs, and nothing that is anyone's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PROGRAMS = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/run/current-system",
)
# Named one by one: /etc also holds what a tool has no business to read, such as password hashes.
SETTINGS = (
    "alternatives",
    "ca-certificates",
    "fonts",
    "group",
    "gai.conf",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.preload",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
    "timezone",
)


def roots() -> list[Path]:
    """Programs, libraries and the settings that libraries read."""
    found = [Path(name) for name in PROGRAMS] + [Path("/etc") / name for name in SETTINGS]
    return [path for path in found if path.exists()]


def interpreter() -> tuple[Path, ...]:
    """Where the Python that runs this lives, its virtual environment included."""
    return tuple(dict.fromkeys(Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)))


def visible(paths: Iterable[Path], home: Path) -> list[Path]:
    """The folders to show, without repeats, each before those inside it; never the home as a whole.

    A folder that is the home, or holds it, is shown by its parts: neither hidden files nor the home are among
    them. A path behind a link is shown both as it is written and where it leads.
    """
    home = home.resolve()
    wanted: set[Path] = set()
    for path in paths:
        for form in {path.absolute(), path.resolve()}:
            wanted.update(_parts(form, home))
    shown: list[Path] = []
    for path in sorted(wanted):
        if not any(path.is_relative_to(parent) for parent in shown):
            shown.append(path)
    return shown


def _parts(path: Path, home: Path) -> list[Path]:
    if path == Path("/"):
        return []
    if not home.is_relative_to(path.resolve()):
        return [path] if path.exists() else []
    children = sorted(path.iterdir()) if path.is_dir() else []
    return [
        child
        for child in children
        if not child.name.startswith(".")
        and not home.is_relative_to(child.resolve())
        and not child.is_symlink()
    ]
