"""Writes files below a folder without following links: each folder of a path is opened by its own name.

goalwright writes into folders that tools and untrusted checkouts can write to. A link there leads to a target of its
author's choice, so a link in a path is refused, and a file is replaced, never opened.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NOFOLLOW
_HAS_HANDLES = os.open in os.supports_dir_fd  # not on Windows, where links are checked before each step


class UnsafePath(InputError):
    """A link, or anything else that is not a plain file or folder, is in a path that goalwright would write to."""

    code = "UNSAFE_PATH"


def make_folder(folder: Path, *, below: Path) -> None:
    """Create a folder and its parents, up to `below`, which must exist."""
    with opened(folder, below):
        pass


def write(path: Path, data: str | bytes, *, below: Path, executable: bool = False) -> None:
    """Write a whole file under a temporary name and move it into place; an existing link or pipe is replaced."""
    content = data.encode() if isinstance(data, str) else data
    with opened(path.parent, below) as at:
        draft = f".goalwright-{secrets.token_hex(8)}"
        handle = os.open(at.path(draft), _NEW, 0o777 if executable else 0o666, dir_fd=at.handle)
        try:
            _fill(handle, content, path)
            os.replace(at.path(draft), at.path(path.name), src_dir_fd=at.handle, dst_dir_fd=at.handle)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(at.path(draft), dir_fd=at.handle)
            if isinstance(error, OSError) and error.errno in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
                raise UnsafePath(f"{path} is a folder, so no file can be written there", hint="remove it") from error
            raise


def create(path: Path, text: str, *, below: Path) -> bool:
    """Write a new file and return True; an existing plain file is left unchanged, anything else is refused."""
    with opened(path.parent, below) as at:
        try:
            handle = os.open(at.path(path.name), _NEW, 0o666, dir_fd=at.handle)
        except FileExistsError as error:
            status = os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                return False
            raise refused(path, status) from error
        try:
            _fill(handle, text.encode(), path)
        except BaseException:  # a partial file would count as existing
            with contextlib.suppress(OSError):
                os.unlink(at.path(path.name), dir_fd=at.handle)
            raise
        return True


def _fill(handle: int, content: bytes, path: Path) -> None:
    """Write the content to an open file and close it; an error names the path."""
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


class Changed(InputError):
    """A file has changed unexpectedly."""

    code = "CHANGED"


def read(path: Path, *, below: Path, limit: int) -> bytes | None:
    """Read a plain file, up to one byte more than a limit, without following links; None if there is no file."""
    if not os.path.lexists(path):
        return None
    with opened(path.parent, below, make=False) as at:
        return _content(at, path, limit)


def replace_if(
    path: Path, data: bytes, was: bytes | None, *, below: Path, drafts: Path, mode: int | None = None
) -> None:
    """Write a whole file if its content is still what it `was` (None: there was no file); raises Changed if not.

    By default, an existing file keeps its permissions. The new content is written in `drafts`, a folder below the same
    one, and moved, so that a crash leaves either the old or the new file and no temporary file beside it. If `drafts`
    is on another file system, the content is written beside the file instead.
    """
    with opened(drafts, below) as source, opened(path.parent, below) as at:
        try:
            _replace_from(source, at, path, data, was, mode)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _replace_from(at, at, path, data, was, mode)


def _replace_from(
    source: OpenFolder, at: OpenFolder, path: Path, data: bytes, was: bytes | None, mode: int | None
) -> None:
    draft = f".goalwright-{secrets.token_hex(8)}"
    handle = os.open(source.path(draft), _NEW, 0o666, dir_fd=source.handle)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if _content(at, path, len(was or b"")) != was:
            raise Changed(f"{path} has changed meanwhile")
        _move(source, draft, at, path.name, is_new=was is None, mode=mode)
    except FileExistsError as error:
        raise Changed(f"{path} has been created meanwhile") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(source.path(draft), dir_fd=source.handle)


def remove_if(path: Path, was: bytes, *, below: Path) -> None:
    """Remove a file if its content is still what it `was`; raises Changed if not."""
    with opened(path.parent, below, make=False) as at:
        if _content(at, path, len(was)) != was:
            raise Changed(f"{path} has changed meanwhile")
        os.unlink(at.path(path.name), dir_fd=at.handle)


def _content(at: OpenFolder, path: Path, limit: int) -> bytes | None:
    try:
        handle = os.open(at.path(path.name), os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW, dir_fd=at.handle)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise refused(path, os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)) from error
        raise
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise refused(path, status)
        return file.read(limit + 1)


def _move(source: OpenFolder, draft: str, at: OpenFolder, name: str, *, is_new: bool, mode: int | None) -> None:
    """Move a draft into place, by default with the mode of the file that it replaces; a new file's path is free."""
    if mode is None and not is_new:
        mode = stat.S_IMODE(os.stat(at.path(name), dir_fd=at.handle, follow_symlinks=False).st_mode)
    if mode is not None:
        os.chmod(source.path(draft), mode, dir_fd=source.handle)
    if is_new and linked(source, draft, at, name):
        return
    os.replace(source.path(draft), at.path(name), src_dir_fd=source.handle, dst_dir_fd=at.handle)


def linked(source: OpenFolder, draft: str, at: OpenFolder, name: str) -> bool:
    """Link a draft to its name, which must be free; False on file systems without hard links, such as FAT."""
    try:
        os.link(source.path(draft), at.path(name), src_dir_fd=source.handle, dst_dir_fd=at.handle)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            return False
        raise
    return True


def refuse_links(path: Path, *, below: Path) -> None:
    """Raise if a part of the path below `below` is a link, pipe or device; for files that another library opens."""
    current = below
    for part in _parts(path, below):
        current = current / part
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            status = current.lstat()
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise refused(current, status)


def remove_tree(folder: Path) -> bool:
    """Remove a folder with all its content at any depth; returns False if something could not be removed.

    Nested folders are moved up before they are emptied, so that neither the stack nor the paths grow with the depth.
    """
    if not _HAS_HANDLES:
        shutil.rmtree(folder, ignore_errors=True)
        return not os.path.lexists(folder)
    with contextlib.suppress(OSError):
        handle = os.open(folder, _FOLDER)
        try:
            _empty(handle)
        finally:
            os.close(handle)
        folder.rmdir()
    return not os.path.lexists(folder)


def remove_all_but(folder: Path, kept: Collection[str]) -> None:
    """Remove the content of a folder except the files at these relative paths; no link is followed."""
    if not _HAS_HANDLES:
        return
    parents = {parent.as_posix() for path in kept for parent in PurePosixPath(path).parents}
    with contextlib.suppress(OSError):
        handle = os.open(folder, _FOLDER)
        try:
            _clear(handle, "", kept, parents)
        finally:
            os.close(handle)


def _clear(handle: int, prefix: str, kept: Collection[str], parents: Collection[str]) -> None:
    for name in _names(handle):
        path = f"{prefix}{name}"
        if path in kept or _unlinked(handle, name):
            continue
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=handle)
            try:
                _clear(inner, f"{path}/", kept, parents) if path in parents else _empty(inner)
            finally:
                os.close(inner)
            if path not in parents:
                os.rmdir(name, dir_fd=handle)


def _empty(top: int) -> None:
    stuck: set[str] = set()
    number = 0
    while names := [name for name in _names(top) if name not in stuck]:
        for name in names:
            if _unlinked(top, name):
                continue
            stuck.add(name)
            with contextlib.suppress(OSError):
                os.chmod(name, stat.S_IRWXU, dir_fd=top)
                inner = os.open(name, _FOLDER, dir_fd=top)
                try:
                    for below in _names(inner):
                        if not _unlinked(inner, below):
                            number += 1
                            os.chmod(below, stat.S_IRWXU, dir_fd=inner)
                            os.rename(below, f".goalwright-removed-{number}", src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)


def _names(handle: int) -> list[str]:
    with os.scandir(handle) as entries:
        return [entry.name for entry in entries]


def _unlinked(handle: int, name: str) -> bool:
    """Remove a file; False if it is a folder."""
    try:
        os.unlink(name, dir_fd=handle)
    except OSError as error:
        return error.errno == errno.ENOENT
    return True


def anchor(folder: Path, workspace: Path) -> Path:
    """Return the trusted start of a path: the workspace that contains the folder, or the nearest existing folder."""
    return workspace if folder.is_relative_to(workspace) else nearest(folder)


def nearest(folder: Path) -> Path:
    """Return the folder itself or its nearest ancestor that exists."""
    return next(above for above in (folder, *folder.parents) if above.is_dir())


class OpenFolder:
    """An open folder, whose entries are accessed through its handle or, on Windows, through its path."""

    def __init__(self, folder: Path, handle: int | None) -> None:
        self.folder = folder
        self.handle = handle

    def path(self, name: str) -> str:
        """Return the path of an entry for functions that take `dir_fd`."""
        return name if self.handle is not None else str(self.folder / name)


@contextlib.contextmanager
def opened(folder: Path, below: Path, *, make: bool = True) -> Iterator[OpenFolder]:
    """Open a folder below another without following links; with `make`, it and its parents are created."""
    parts = _parts(folder, below)
    if not _HAS_HANDLES:
        refuse_links(folder, below=below)
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        yield OpenFolder(folder, None)
        return
    handle = os.open(below, _FOLDER & ~os.O_NOFOLLOW)  # the user's own path may lead through links
    try:
        current = below
        for part in parts:
            current = current / part
            inner = _step(handle, part, current, make=make)
            os.close(handle)
            handle = inner
        yield OpenFolder(folder, handle)
    finally:
        os.close(handle)


def _step(handle: int, name: str, path: Path, *, make: bool) -> int:
    """Open a folder inside another; with `make`, it is created."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=handle)
    try:
        return os.open(name, _FOLDER, dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise refused(path, os.stat(name, dir_fd=handle, follow_symlinks=False)) from error
        raise


def _parts(path: Path, below: Path) -> tuple[str, ...]:
    try:
        parts = path.relative_to(below).parts
    except ValueError:
        parts = ("..",)
    if ".." in parts:
        raise UnsafePath(f"{path} is not inside {below}, so nothing is written there", hint="choose a path inside it")
    return parts


def refused(path: Path, status: os.stat_result) -> UnsafePath:
    """Return the error for a path that is not a plain file or folder."""
    kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a plain folder or file"
    return UnsafePath(
        f"{path} is {kind}, and goalwright does not write through it",
        hint="if you did not create it, find out who did; remove it, or replace it by its target",
    )
