"""The system paths that every program needs, without the user's own files."""

from __future__ import annotations

import functools
import os
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
# An allow-list, because /etc also has files that no tool should read, such as password hashes.
SETTINGS = (
    "alternatives", "crypto-policies", "group", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf",
    "passwd", "pki/tls/openssl.cnf", "ssl/openssl.cnf",
)  # fmt: skip
NETWORK_SETTINGS = (
    "ca-certificates", "gai.conf", "host.conf", "hosts", "pki/ca-trust", "pki/tls/cert.pem", "pki/tls/certs",
    "resolv.conf", "services", "ssl/cert.pem", "ssl/certs",
)  # fmt: skip


@functools.cache
def roots(*, network: bool) -> tuple[Path, ...]:
    """Return the paths of programs, libraries and the settings that libraries read."""
    settings = (*SETTINGS, *NETWORK_SETTINGS) if network else SETTINGS
    paths = [Path(name) for name in PROGRAMS] + [Path("/etc") / name for name in settings]
    return tuple(visible([path for path in paths if path.exists()], Path("/nonexistent")))


# Options for an interpreter that reads no files of the user and writes none.
ISOLATED = ("-I", "-S", "-B", "-X", "utf8")


def interpreter() -> tuple[Path, ...]:
    """Return the folders of the running Python, including its virtual environment."""
    prefixes = dict.fromkeys(Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    return tuple(part for prefix in prefixes for part in installation(prefix))


# The installed parts of a folder that also holds the user's data, such as ~/.local or ~/.cargo.
_INSTALLED = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg")


def installation(prefix: Path) -> tuple[Path, ...]:
    """Return the paths of an installation: the whole folder, unless it is the home or a hidden folder in it."""
    home = Path.home()
    is_shared = home.is_relative_to(prefix) or (prefix.parent == home and prefix.name.startswith("."))
    return tuple(prefix / name for name in _INSTALLED) if is_shared else (prefix,)


def visible(paths: Iterable[Path], home: Path) -> list[Path]:
    """Return the paths to show, without paths inside another; never the whole home folder.

    A folder that is or contains the home is replaced by its entries, without hidden files and the home. A path with
    links is shown as written and by its target.
    """
    real_home = os.path.realpath(home)
    candidates: set[str] = set()
    for path in paths:
        for form in {os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100  ten times faster than pathlib
            candidates.update(_parts(form, real_home))
    shown: list[str] = []
    for name in sorted(candidates):
        if not any(_within(name, parent) for parent in shown):
            shown.append(name)
    return [Path(name) for name in shown]


def _within(name: str, parent: str) -> bool:
    return name == parent or name.startswith(parent + "/")


def _parts(name: str, home: str) -> list[str]:
    if name == "/" or not os.path.lexists(name):
        return []
    if not _within(home, os.path.realpath(name)):
        return [name]
    children = [entry for entry in os.scandir(name) if not entry.name.startswith(".") and not entry.is_symlink()]
    return [entry.path for entry in children if not _within(home, os.path.realpath(entry.path))]
