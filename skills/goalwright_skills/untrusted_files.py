"""Reads untrusted files: only regular files, bounded in size, and opened without blocking.

A checkout can contain a pipe, a device, a file of any size, or a link to a file of the kernel. All files of a workspace
are read through this module.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 20 * 1024 * 1024
WRITER_PATIENCE = 3.0
_PART = 256 * 1024
# The kernel generates these files as they are read: they may be endless, block, or contain secrets of this process.
KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
_MEMORY = "/dev/shm"  # noqa: S108 - files in it are ordinary ones
# The paths with which shells pass on a pipe, as in `<(command)`.
_PASSED_ON = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)


def is_kernel_path(real: str) -> bool:
    """Whether a real path is in a folder of the kernel."""
    if not real.startswith(KERNEL_FOLDERS) or _is_below(real, _MEMORY):
        return False
    return any(_is_below(real, folder) for folder in KERNEL_FOLDERS)


def open_regular(path: Path | str, limit: int = LARGEST) -> int:
    """Open a regular file of at most `limit` bytes; raises OSError for anything else."""
    _check(os.stat(path), limit)  # before it is opened, since opening a device may have side effects
    descriptor = os.open(path, _FLAGS)
    try:
        _check(os.fstat(descriptor), limit)
        _check_real(_real(path, descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(path: Path | str, limit: int = LARGEST) -> None:
    """Raise OSError unless a path is a regular file of at most `limit` bytes, without opening it."""
    _check(os.stat(path), limit)


def read(path: Path | str, limit: int = LARGEST) -> bytes:
    """Read a regular file of at most `limit` bytes; raises OSError for anything else."""
    with os.fdopen(open_regular(path, limit), "rb") as file:
        return _content(file, limit)


def read_text(path: Path | str, limit: int = LARGEST, encoding: str = "utf-8-sig") -> str:
    """Read the text of a regular file, with `\\n` as line ends; raises OSError or UnicodeDecodeError."""
    return read(path, limit).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def read_given(path: Path | str, limit: int = LARGEST) -> bytes:
    """Read a file or pipe that the user named; raises OSError, also for a pipe without a writer."""
    if is_regular(path):
        return read(path, limit)
    with os.fdopen(open_pipe(path), "rb") as file:
        return _content(file, limit)


def read_given_text(path: Path | str, limit: int = LARGEST) -> str:
    """Read the text of a file or pipe that the user named."""
    return read_given(path, limit).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def open_pipe(path: Path | str) -> int:
    """Open a pipe that the user named, once it has a writer; raises OSError for anything else."""
    if os.fspath(path).startswith(_PASSED_ON):
        return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is neither a regular file nor a pipe", str(path))
    descriptor = os.open(path, _FLAGS)
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    if not waiting.poll(WRITER_PATIENCE * 1000):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is a pipe without a writer", str(path))
    os.set_blocking(descriptor, True)
    return descriptor


def is_regular(path: Path | str) -> bool:
    """Whether a path leads to a regular file outside the kernel's folders."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and not is_kernel_path(os.path.realpath(path))
    except (OSError, ValueError):
        return False


def _check(found: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise OSError(errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL, f"it is {kind}")
    if found.st_size > limit:
        raise _too_large(limit)


def _check_real(real: str) -> None:
    if is_kernel_path(real):
        raise OSError(errno.EINVAL, "it leads to a file of the kernel")


def _content(file: IO[bytes], limit: int) -> bytes:
    """Read a whole file in parts, since the reported size may be wrong."""
    parts: list[bytes] = []
    remaining = limit + 1
    while remaining and (part := file.read(min(remaining, _PART))):
        parts.append(part)
        remaining -= len(part)
    if not remaining:
        raise _too_large(limit)
    return b"".join(parts)


def _too_large(limit: int) -> OSError:
    size = f"{limit // 1024 // 1024} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
    return OSError(errno.EFBIG, f"it exceeds {size}")


def _real(path: Path | str, descriptor: int) -> str:
    """Return the real path of an open file from the kernel, so that it cannot change in between."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # not Linux
        return os.path.realpath(path)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
