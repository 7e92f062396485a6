"""The files that git tracks, read from its index: git itself would run what a stranger's .git/config names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 64 * 1024 * 1024
_ENTRY = 62  # bytes before the name: times, device, mode, owner, size, hash and flags
_EXTENDED = 0x4000
_GITLINK = 0o160000
_FOLDER = 0o040000
# Extensions that say that entries stand elsewhere.
_INCOMPLETE = (b"link", b"sdir")


class UnknownIndex(Exception):
    """There is no index, or it is of a form that is not read here."""


def tracked(workspace: Path) -> list[tuple[Path, bool]]:
    """The tracked files of a workspace, and whether each is a submodule's folder; raises UnknownIndex."""
    root = next((folder for folder in (workspace, *workspace.parents) if os.path.lexists(folder / ".git")), None)
    if root is None:
        raise UnknownIndex
    try:
        data = untrusted_files.read(_git_folder(root) / "index", _LARGEST)
        entries = parse(data)
    except (OSError, ValueError, IndexError) as error:
        raise UnknownIndex from error
    found = ((root / os.fsdecode(name), mode == _GITLINK) for name, mode in entries)
    return [(path, is_module) for path, is_module in found if path.is_relative_to(workspace)]


def _git_folder(root: Path) -> Path:
    """The folder with git's data: `.git`, or where a file of that name leads."""
    place = root / ".git"
    if place.is_dir():
        return place
    text = untrusted_files.read_text(place, 4_096)
    if not text.startswith("gitdir: "):
        raise UnknownIndex
    return root / text.removeprefix("gitdir: ").strip()


def parse(data: bytes) -> list[tuple[bytes, int]]:
    """The names and modes in an index of version 2, 3 or 4; raises UnknownIndex or IndexError for any other."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4) or count > len(data) // _ENTRY:
        raise UnknownIndex
    entries: list[tuple[bytes, int]] = []
    place, name = 12, b""
    for _ in range(count):
        mode = int.from_bytes(data[place + 24 : place + 28], "big")
        flags = int.from_bytes(data[place + 60 : place + 62], "big")
        start = place + _ENTRY + (2 if flags & _EXTENDED else 0)
        if version == 4:
            dropped, start = _number(data, start)
            end = data.index(b"\0", start)
            name, place = name[: len(name) - dropped] + data[start:end], end + 1
        else:
            end = data.index(b"\0", start)
            name, place = data[start:end], place + (end - place + 8) // 8 * 8
        if mode & 0o170000 == _FOLDER or name.startswith(b"/") or b".." in name.split(b"/"):
            raise UnknownIndex  # a sparse index, or one that git did not write
        entries.append((name, mode))
    while place < len(data) - 20:
        if data[place : place + 4] in _INCOMPLETE:
            raise UnknownIndex
        place += 8 + int.from_bytes(data[place + 4 : place + 8], "big")
    return entries


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number as git packs it, and the place after it."""
    value = data[place] & 0x7F
    while data[place] & 0x80:
        place += 1
        value = (value + 1) << 7 | (data[place] & 0x7F)
    return value, place + 1
