"""Skill archives for tests, good and bad."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SKILL = b"---\nname: demo\ndescription: Shows.\n---\nBody\n"


def everything(folder: Path) -> set[str]:
    """The paths of everything below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def zipped(path: Path, entries: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    """Write a zip archive of these entries and symbolic links."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
        for name, target in (links or {}).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            file.writestr(info, target)
    return path


def tarred(path: Path, entries: dict[str, bytes], special: list[tarfile.TarInfo] | None = None) -> Path:
    """Write a tar archive of these entries and special members."""
    with tarfile.open(path, "w:gz") as file:
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o755 if name.endswith(".sh") else 0o644
            file.addfile(info, io.BytesIO(data))
        for info in special or []:
            file.addfile(info)
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    """A link as a member of a tar archive."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info
