"""Hashes of folders, by which trust is granted; a file is read again only when it has changed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs.git_files import is_git_data
from goalwright_skills.untrusted_files import is_kernel_path, is_regular

if TYPE_CHECKING:
    from collections.abc import Callable

FILES_LIMIT = 20_000
MOST_BYTES = 2_000_000_000
_CHUNK = 1 << 20
# A file changed more recently than this may change again within the resolution of its timestamp.
_RACY_NS = 2_000_000_000


class ContentHashes:
    """Hashes the files of a folder; raises GoalwrightError once their total size exceeds a limit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = MOST_BYTES

    def digest(self, path: Path) -> bytes:
        """Return the hash of a regular file's content; raises OSError for anything else."""
        found = path.stat()
        self._left -= found.st_size
        if self._left < 0:
            raise GoalwrightError(
                f"{self._folder} has more than {MOST_BYTES // 1_000_000:,} MB of files",
                hint="move data and dependencies elsewhere",
            )
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        if time.time_ns() - newest < _RACY_NS:
            return _digest(path, found.st_size)
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return _digest_once(str(path), stamp)


@lru_cache(maxsize=50_000)
def _digest_once(path: str, stamp: tuple[int, ...]) -> bytes:
    """Return the hash of a file, computed once for each stamp; the ctime in it cannot be set back."""
    return _digest(path, stamp[2])


def _digest(path: Path | str, size: int) -> bytes:
    digest = hashlib.sha256()
    with os.fdopen(untrusted_files.open_regular(path, size), "rb") as file:
        left = size + 1
        while left > 0 and (part := file.read(min(left, _CHUNK))):
            digest.update(part)
            left -= len(part)
    if left == 0:
        raise OSError(errno.EAGAIN, "it is growing", str(path))
    return digest.digest()


def fingerprint(folder: Path, skip: Callable[[Path], bool] | None = None) -> str:
    """Return a hash of all names, contents, link targets and executable bits in a folder, except `skip`ped paths."""
    digest = hashlib.sha256()
    hashes = ContentHashes(folder)
    try:
        files = all_files(folder, skip)
    except RecursionError as error:
        raise GoalwrightError(f"{folder} nests folders too deeply", hint="flatten it") from error
    for path in files:
        kind = "program" if os.access(path, os.X_OK) else "file"
        link = str(path.readlink()) if path.is_symlink() else ""
        content = hashes.digest(path) if is_regular(path) else b""
        name = path.relative_to(folder).as_posix()
        digest.update(json.dumps([kind, name, link]).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def all_files(folder: Path, skip: Callable[[Path], bool] | None = None) -> list[Path]:
    """Return every file and link; linked folders are followed, each real folder once.

    Git's own data in a `.git` folder is left out: it changes with every commit and cannot run.
    """
    found: list[Path] = []
    entered: set[str] = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        here = Path(root)
        real = os.path.realpath(root)
        if real in entered or is_kernel_path(real):
            folders.clear()
            continue
        entered.add(real)
        folders.sort()
        if skip is not None:
            folders[:] = [name for name in folders if not skip(here / name)]
            names = [name for name in names if not skip(here / name)]
        found += [here / name for name in (*folders, *names) if (here / name).is_symlink()]
        files = [here / name for name in names if (here / name).is_file() and not (here / name).is_symlink()]
        found += [path for path in files if not _is_git_data(path, folder)] if ".git" in here.parts else files
        if len(found) > FILES_LIMIT:
            hint = "move data and dependencies out of the tool's folder"
            raise GoalwrightError(f"{folder} has more than {FILES_LIMIT:,} files", hint=hint)
    return sorted(found)


def _is_git_data(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    if ".git" not in parts:
        return False
    return is_git_data("/".join(parts[parts.index(".git") + 1 :]), path)
