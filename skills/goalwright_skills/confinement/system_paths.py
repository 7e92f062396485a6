"""The parts of a machine that every program needs, and none of the user's own files."""

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
# Named one by one: /etc also has files that no tool should read, such as password hashes.
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
    """Programs, libraries and the settings that libraries read, as found on the first call."""
    settings = (*SETTINGS, *NETWORK_SETTINGS) if network else SETTINGS
    found = [Path(name) for name in PROGRAMS] + [Path("/etc") / name for name in settings]
    return tuple(visible([path for path in found if path.exists()], Path("/nonexistent")))


# The options of an interpreter that finds none of its user's files and writes nothing.
ISOLATED = ("-I", "-S", "-B", "-X", "utf8")


def interpreter() -> tuple[Path, ...]:
    """The folders of the running Python, including its virtual environment."""
    prefixes = dict.fromkeys(Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    return tuple(part for prefix in prefixes for part in installation(prefix))


# What programs install below a folder in which others keep the user's data, such as ~/.local or ~/.cargo.
_INSTALLED = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg")


def installation(prefix: Path) -> tuple[Path, ...]:
    """What programs are installed with below a folder: all of it, unless that is, or stands in, the home folder."""
    home = Path.home()
    is_shared = home.is_relative_to(prefix) or (prefix.parent == home and prefix.name.startswith("."))
    return tuple(prefix / name for name in _INSTALLED) if is_shared else (prefix,)


def visible(paths: Iterable[Path], home: Path) -> list[Path]:
    """The folders to show, without repeats and without those inside another; never the whole home folder.

    If a folder is the home or contains it, its entries are shown instead, without hidden files and the home. A path
    with links is shown both as written and where it leads.
    """
    real_home = os.path.realpath(home)
    wanted: set[str] = set()
    for path in paths:
        for form in {os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100  a tenth of pathlib's time
            wanted.update(_parts(form, real_home))
    shown: list[str] = []
    for name in sorted(wanted):
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
