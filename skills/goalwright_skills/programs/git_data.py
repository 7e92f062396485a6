"""Git's own data in a `.git` folder: what git itself writes there, and what cannot be run as a program.

Everything else in such a folder counts for trust, as the rest of a tool's folder does. A file is git's own only if both
its place and its content are, so that no program becomes data by its name; a commit alone changes nothing else.
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
    r"(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|url|pushurl|fetch|"
    r"remote|merge|rebase|active|name|email|objectformat|worktreeconfig|partialclonefilter|promisor|tagopt|autocrlf)"
)
# Each place below .git, and the first bytes of a file there.
_BEGINS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    (r"objects/[0-9a-f]{2}/[0-9a-f]{38}(?:[0-9a-f]{24})?", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")),
    (r"objects/pack/pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap|mtimes)", (b"PACK", b"\xfftOc", b"RIDX", b"BITM", b"MTME")),
    (r"objects/pack/multi-pack-index", (b"MIDX",)),
    (r"objects/info/commit-graph|objects/info/commit-graphs/graph-[0-9a-f]+\.graph", (b"CGPH",)),
    (r"index", (b"DIRC",)),
)
# Each place below .git, and the form of every line of a file there.
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
    """Whether the file at this place below a `.git` folder is git's own data."""
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
    """Whether git copied this file into a new repository, unchanged."""
    if not _TEMPLATE.fullmatch(place):
        return False
    content = untrusted_files.read(path)
    return any((folder / place).is_file() and (folder / place).read_bytes() == content for folder in TEMPLATES)
