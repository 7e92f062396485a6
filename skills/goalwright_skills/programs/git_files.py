"""Git's files, read without starting git, which would run commands from an untrusted `.git/config`.

Git's own data does not count for trust, since every commit changes it. A file in a `.git` folder is git's data only if
its path and its content both match; everything else is hashed like the rest of a tool's folder.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from goalwright_skills import untrusted_files

TEMPLATES = (Path("/usr/share/git-core/templates"), Path("/usr/local/share/git-core/templates"))
_HASH = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_SECTION = r'\[(?:core|remote|branch|submodule|user|extensions|lfs|pull|push|init)(?: "[^"]*")?\]'
_KEY = (
    r"(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|url|pushurl|"
    r"fetch|remote|merge|rebase|active|name|email|objectformat|worktreeconfig|partialclonefilter|promisor|tagopt|autocrlf)"
)
# Paths below .git, and the first bytes of a file there.
_BEGINS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    (r"objects/[0-9a-f]{2}/[0-9a-f]{38}(?:[0-9a-f]{24})?", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")),
    (r"objects/pack/pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap|mtimes)", (b"PACK", b"\xfftOc", b"RIDX", b"BITM", b"MTME")),
    (r"objects/pack/multi-pack-index", (b"MIDX",)),
    (r"objects/info/commit-graph|objects/info/commit-graphs/graph-[0-9a-f]+\.graph", (b"CGPH",)),
    (r"index", (b"DIRC",)),
)
# Paths below .git, and the form of every line of a file there.
_LINES: tuple[tuple[str, str], ...] = (
    (r"[A-Z_]*HEAD|refs/.+|shallow", rf"{_HASH}|ref: refs/[\w./@+-]+"),
    (r"FETCH_HEAD", rf"{_HASH}\t(?:not-for-merge)?\t[^()\[\]{{}};]*"),
    (r"packed-refs|info/refs", rf"# pack-refs with: [\w -]+|\^?{_HASH}|{_HASH}[ \t]refs/[\w./@+^{{}}-]+"),
    (r"objects/info/packs", r"P pack-[0-9a-f]+\.pack"),
    (r"logs/.+", rf"{_HASH} {_HASH} [^>]*> \d+ [+-]\d{{4}}(?:\t.*)?"),
    (r"config", rf"{_SECTION}|\t?{_KEY} = [\w .,:/@+*~-]*"),
    (
        r"(?:COMMIT|MERGE|SQUASH)_(?:EDIT)?MSG",
        r"[^#(){}\[\]=;$`|&<>\\!][^(){}\[\]=;$`|&<>\\]*|#|# [^(){}\[\]=;$`|&<>\\]*",
    ),
)
_BINARY = tuple((re.compile(place), begins) for place, begins in _BEGINS)
_TEXT = tuple((re.compile(place), re.compile(line)) for place, line in _LINES)
_TEMPLATE = re.compile(r"description|info/exclude|hooks/[a-z-]+\.sample")


def is_git_data(place: str, path: Path) -> bool:
    """Return whether the file at this path below a `.git` folder is git's own data."""
    if path.is_symlink():
        return False
    try:
        return _is_binary(place, path) or _is_text(place, path) or _is_template(place, path)
    except OSError:
        return False


def _is_binary(place: str, path: Path) -> bool:
    for where, begins in _BINARY:
        if where.fullmatch(place):
            with os.fdopen(untrusted_files.open_regular(path, sys.maxsize), "rb") as file:
                return file.read(4).startswith(begins)
    return False


def _is_text(place: str, path: Path) -> bool:
    forms = [line for where, line in _TEXT if where.fullmatch(place)]
    if not forms:
        return False
    lines = untrusted_files.read(path).decode("utf-8", errors="replace").split("\n")
    return any(all(not line or form.fullmatch(line) for line in lines) for form in forms)


def _is_template(place: str, path: Path) -> bool:
    """Return whether the file is an unchanged template of `git init`."""
    if not _TEMPLATE.fullmatch(place):
        return False
    content = untrusted_files.read(path)
    return any((folder / place).is_file() and (folder / place).read_bytes() == content for folder in TEMPLATES)


_LARGEST = 64 * 1024 * 1024
_ENTRY = 62  # bytes before the name: times, device, mode, owner, size, hash, flags
_EXTENDED = 0x4000
_GITLINK = 0o160000
_FOLDER = 0o040000
# Extensions of an index whose entries are stored elsewhere.
_INCOMPLETE = (b"link", b"sdir")


class UnknownIndex(Exception):
    """There is no index, or its format is not supported."""


def tracked_files(workspace: Path) -> list[tuple[Path, bool]]:
    """Return the tracked files of a workspace, and whether each is a submodule's folder; raises UnknownIndex."""
    root = next((folder for folder in (workspace, *workspace.parents) if os.path.lexists(folder / ".git")), None)
    if root is None:
        raise UnknownIndex
    try:
        data = untrusted_files.read(_git_folder(root) / "index", _LARGEST)
        entries = parse_index(data)
    except (OSError, ValueError, IndexError) as error:
        raise UnknownIndex from error
    found = ((root / os.fsdecode(name), mode == _GITLINK) for name, mode in entries)
    return [(path, is_module) for path, is_module in found if path.is_relative_to(workspace)]


def _git_folder(root: Path) -> Path:
    """Return the folder with git's data: `.git`, or the folder that a `.git` file names."""
    place = root / ".git"
    if place.is_dir():
        return place
    text = untrusted_files.read_text(place, 4_096)
    if not text.startswith("gitdir: "):
        raise UnknownIndex
    return root / text.removeprefix("gitdir: ").strip()


def parse_index(data: bytes) -> list[tuple[bytes, int]]:
    """Parse the names and modes of an index of version 2, 3 or 4; raises UnknownIndex or IndexError for any other."""
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
            raise UnknownIndex  # a sparse index, or not written by git
        entries.append((name, mode))
    while place < len(data) - 20:
        if data[place : place + 4] in _INCOMPLETE:
            raise UnknownIndex
        place += 8 + int.from_bytes(data[place + 4 : place + 8], "big")
    return entries


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Decode a variable-length integer; returns it and the offset after it."""
    value = data[place] & 0x7F
    while data[place] & 0x80:
        place += 1
        value = (value + 1) << 7 | (data[place] & 0x7F)
    return value, place + 1
