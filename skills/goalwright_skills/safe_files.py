"""Writes files below a folder without following links: every folder on the way is opened by its own name.

goalwright writes where tools write too, and in checkouts of strangers. A link that stands there leads to a place that its
author chose, so goalwright does not go through it: a link on the way is refused, and a file is replaced, never opened.
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
_HAS_HANDLES = os.open in os.supports_dir_fd  # not on Windows: there, links are looked for before each step


class UnsafePath(InputError):
    """A link, or something else that is not a plain file or folder, stands where goalwright would write."""

    code = "UNSAFE_PATH"


def make_folder(folder: Path, *, below: Path) -> None:
    """Create a folder and those above it, up to `below`, which must exist."""
    with opened(folder, below):
        pass


def write(path: Path, data: str | bytes, *, below: Path, executable: bool = False) -> None:
    """Write a whole file under a new name and move it into place; a link or pipe in its place is replaced by it."""
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
                raise UnsafePath(f"{path} is a folder, so no file is written there", hint="remove it") from error
            raise


def create(path: Path, text: str, *, below: Path) -> bool:
    """Write a new file and return True; a plain file that exists is left as it is, and anything else is refused."""
    with opened(path.parent, below) as at:
        try:
            handle = os.open(at.path(path.name), _NEW, 0o666, dir_fd=at.handle)
        except FileExistsError as error:
            found = os.stat(at.path(path.name), dir_fd=at.handle, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                return False
            raise refused(path, found) from error
        try:
            _fill(handle, text.encode(), path)
        except BaseException:  # half a file would count as one that exists
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
    """A file is no longer what it was expected to be."""

    code = "CHANGED"


def read(path: Path, *, below: Path, limit: int) -> bytes | None:
    """The content of a plain file, up to a limit and one byte more; None if there is none. No link is followed."""
    if not os.path.lexists(path):
        return None
    with opened(path.parent, below, make=False) as at:
        return _content(at, path, limit)


def replace_if(
    path: Path, data: bytes, was: bytes | None, *, below: Path, drafts: Path, mode: int | None = None
) -> None:
    """Write a whole file if its content is still what it `was` (None: there was no file); raises Changed if not.

    It gets the permissions `mode`; without, a file that was there keeps its own. The new content is written in
    `drafts`, a folder below the same one, and moved: a kill leaves the old file or the new one, and nothing beside it.
    If `drafts` is on another file system, it is written beside the file instead.
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
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise refused(path, found)
        return file.read(limit + 1)


def _move(source: OpenFolder, draft: str, at: OpenFolder, name: str, *, is_new: bool, mode: int | None) -> None:
    """Move a draft into its place with that mode or of the file that was there; a new one must find the place empty."""
    if mode is None and not is_new:
        mode = stat.S_IMODE(os.stat(at.path(name), dir_fd=at.handle, follow_symlinks=False).st_mode)
    if mode is not None:
        os.chmod(source.path(draft), mode, dir_fd=source.handle)
    if is_new and linked(source, draft, at, name):
        return
    os.replace(source.path(draft), at.path(name), src_dir_fd=source.handle, dst_dir_fd=at.handle)


def linked(source: OpenFolder, draft: str, at: OpenFolder, name: str) -> bool:
    """Give a draft its name, which must be free; False on file systems without hard links, such as FAT."""
    try:
        os.link(source.path(draft), at.path(name), src_dir_fd=source.handle, dst_dir_fd=at.handle)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            return False
        raise
    return True


def refuse_links(path: Path, *, below: Path) -> None:
    """Raise if a part of the path, from `below` on, is a link, pipe or device; for files that another library opens."""
    here = below
    for part in _parts(path, below):
        here = here / part
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = here.lstat()
            if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                raise refused(here, found)


def remove_tree(folder: Path) -> bool:
    """Remove a folder with all that is in it, however deep; what cannot be removed is left behind, and it says False.

    A folder within a folder is moved up before its turn comes, so that neither the stack nor a path grows with the
    depth of what a tool has left.
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
    """Remove all that is in a folder but the files at these paths below it; no link is followed, wherever it stands."""
    if not _HAS_HANDLES:
        return
    above = {parent.as_posix() for path in kept for parent in PurePosixPath(path).parents}
    with contextlib.suppress(OSError):
        handle = os.open(folder, _FOLDER)
        try:
            _clear(handle, "", kept, above)
        finally:
            os.close(handle)


def _clear(handle: int, here: str, kept: Collection[str], above: Collection[str]) -> None:
    for name in _names(handle):
        path = f"{here}{name}"
        if path in kept or _unlinked(handle, name):
            continue
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=handle)
            try:
                _clear(inner, f"{path}/", kept, above) if path in above else _empty(inner)
            finally:
                os.close(inner)
            if path not in above:
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
    """Where the way to a folder begins: the workspace it is in; elsewhere the nearest folder that exists."""
    return workspace if folder.is_relative_to(workspace) else nearest(folder)


def nearest(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(above for above in (folder, *folder.parents) if above.is_dir())


class OpenFolder:
    """An open folder: names in it are looked up by its handle or, where there are no handles, by its path."""

    def __init__(self, folder: Path, handle: int | None) -> None:
        self.folder = folder
        self.handle = handle

    def path(self, name: str) -> str:
        """A name in it, as functions that take its handle want it."""
        return name if self.handle is not None else str(self.folder / name)


@contextlib.contextmanager
def opened(folder: Path, below: Path, *, make: bool = True) -> Iterator[OpenFolder]:
    """A folder below another, reached through no link; it and those above it are made if that is asked for."""
    parts = _parts(folder, below)
    if not _HAS_HANDLES:
        refuse_links(folder, below=below)
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        yield OpenFolder(folder, None)
        return
    handle = os.open(below, _FOLDER & ~os.O_NOFOLLOW)  # the user's own path may lead through links
    try:
        here = below
        for part in parts:
            here = here / part
            inner = _step(handle, part, here, make=make)
            os.close(handle)
            handle = inner
        yield OpenFolder(folder, handle)
    finally:
        os.close(handle)


def _step(handle: int, name: str, path: Path, *, make: bool) -> int:
    """A handle of a folder inside another, created if it is missing and that is asked for."""
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
        raise UnsafePath(f"{path} is not inside {below}, so nothing is written there", hint="name a path inside it")
    return parts


def refused(path: Path, found: os.stat_result) -> UnsafePath:
    """The error for something that is not a plain file or folder."""
    kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a plain folder or file"
    return UnsafePath(
        f"{path} is {kind}, and goalwright does not write through it",
        hint="if you did not put it there, find out who did; remove it, or move what it leads to into its place",
    )
