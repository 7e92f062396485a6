"""Moves files of any size below a folder without reading them into memory, copying them, or following links.

A file gets its new name before it loses the old one, so that a kill leaves it under one of them, or under both.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from goalwright_skills import safe_files
from goalwright_skills.safe_files import Changed

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.safe_files import OpenFolder

_PART = 1024**2


class Content(NamedTuple):
    """What a file holds, by its hash and its size."""

    sha256: str
    size: int


def size_of(path: Path, *, below: Path) -> int | None:
    """The size of a plain file; None if there is none. Anything else is refused."""
    try:
        with safe_files.opened(path.parent, below, make=False) as at:
            found = os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise safe_files.refused(path, found)
    return found.st_size


def content_of(path: Path, *, below: Path) -> Content | None:
    """What a plain file holds, read in parts; None if there is none."""
    try:
        with safe_files.opened(path.parent, below, make=False) as at:
            handle = _open(at, path)
            try:
                return Content(_hash(handle), os.fstat(handle).st_size)
            finally:
                os.close(handle)
    except FileNotFoundError:
        return None


def move_if(path: Path, to: Path, content: Content, *, below: Path) -> None:
    """Give a file another name, which must be free, if it still has this content; raises Changed if not.

    A move that a kill has left half done is ended. One to another file system raises OSError (EXDEV).
    """
    with safe_files.opened(path.parent, below, make=False) as source:
        try:
            handle = _open(source, path)
        except FileNotFoundError as error:
            raise Changed(f"{path} has been removed meanwhile") from error
        try:
            if os.fstat(handle).st_size != content.size or _hash(handle) != content.sha256:
                raise Changed(f"{path} has changed meanwhile")
            with safe_files.opened(to.parent, below) as target:
                _rename(source, path, target, to, os.fstat(handle))
        finally:
            os.close(handle)


def _rename(source: OpenFolder, path: Path, target: OpenFolder, to: Path, seen: os.stat_result) -> None:
    try:
        linked = safe_files.linked(source, path.name, target, to.name)
    except FileExistsError as error:
        if not _is(target, to.name, seen):
            raise Changed(f"{to} has been created meanwhile") from error
        linked = True
    if not linked:  # a file system without hard links
        if _exists(target, to.name):
            raise Changed(f"{to} has been created meanwhile")
        os.rename(source.path(path.name), target.path(to.name), src_dir_fd=source.handle, dst_dir_fd=target.handle)
    elif not _is(source, path.name, seen) or not _is(target, to.name, seen):
        os.unlink(target.path(to.name), dir_fd=target.handle)
        raise Changed(f"{path} has been replaced meanwhile")
    else:
        os.unlink(source.path(path.name), dir_fd=source.handle)


def _open(at: OpenFolder, path: Path) -> int:
    flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(at.path(path.name), flags, dir_fd=at.handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            found = os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)
            raise safe_files.refused(path, found) from error
        raise
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise safe_files.refused(path, found)
    return handle


def _hash(handle: int) -> str:
    """The hash of a file as long as it is now, and a byte more if it grows: one that is written without end, too."""
    digest, left = hashlib.sha256(), os.fstat(handle).st_size + 1
    while left and (part := os.read(handle, min(left, _PART))):
        digest.update(part)
        left -= len(part)
    return digest.hexdigest()


def _exists(at: OpenFolder, name: str) -> bool:
    try:
        os.stat(at.path(name), dir_fd=at.handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _is(at: OpenFolder, name: str, seen: os.stat_result) -> bool:
    """Whether a name is of the file that was seen, with the content that it had then."""
    try:
        found = os.stat(at.path(name), dir_fd=at.handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, seen) and (found.st_size, found.st_mtime_ns) == (seen.st_size, seen.st_mtime_ns)
