"""Moves files of any size below a folder without reading them into memory, copying them, or following links.

A file gets its new name before it loses the old one, so that a crash leaves it under one of the names, or under both.
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
    """The hash and the size of a file's content."""

    sha256: str
    size: int


def size_of(path: Path, *, below: Path) -> int | None:
    """Return the size of a plain file, or None if there is no file; raises UnsafePath for anything else."""
    try:
        with safe_files.opened(path.parent, below, make=False) as at:
            found = os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise safe_files.refused(path, found)
    return found.st_size


def content_of(path: Path, *, below: Path) -> Content | None:
    """Return the content of a plain file, or None if there is no file."""
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
    """Move a file to a free path if it still has this content; raises Changed if not.

    An interrupted move is completed. A move to another file system raises OSError (EXDEV).
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
    """Hash a file up to its current size and one byte more, so that a growing file does not block."""
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
    """Whether a name still refers to the same, unchanged file."""
    try:
        found = os.stat(at.path(name), dir_fd=at.handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, seen) and (found.st_size, found.st_mtime_ns) == (seen.st_size, seen.st_mtime_ns)
