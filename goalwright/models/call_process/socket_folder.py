"""The folder with the shared process's socket, which only the user can open."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from goalwright.version import __version__

_CREDENTIALS = struct.Struct("3i")  # process, user, group
# The longest path of a socket: the kernel has 108 bytes for it with the final zero.
_MAX_PATH = 107


class UnsafeFolder(OSError):
    """Other users could open a socket in this folder."""


@dataclass(frozen=True, slots=True)
class SocketFolder:
    """The socket and the lock of one installation: each version, interpreter and environment has its own."""

    folder: Path
    name: str

    @classmethod
    def of(cls, cache: Path) -> SocketFolder:
        """The folder in the user's cache folder."""
        installation = "\0".join((__version__, sys.version, sys.prefix, str(Path(__file__).parents[3])))
        return cls(cache / "calls", hashlib.sha256(installation.encode()).hexdigest()[:16])

    @property
    def address(self) -> Path:
        """The socket's path."""
        return self.folder / f"{self.name}.sock"

    @property
    def lock(self) -> Path:
        """The lock file, which contains the id of the process that holds it."""
        return self.folder / f"{self.name}.lock"

    def served_by(self) -> int | None:
        """The id of the process that serves the socket, or None."""
        try:
            self.check()
            descriptor = os.open(self.lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            if _lock(file):
                return None
            number = file.read(20)
            return int(number) if number.isdigit() else None

    def locked(self) -> IO[bytes] | None:
        """Lock the folder until the returned file is closed; None if another process has the lock."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(self.lock, flags, 0o600), "r+b", buffering=0)
        if not _lock(file):
            file.close()
            return None
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        return file

    def listen(self) -> socket.socket:
        """Listen on the socket; only for the process that holds the lock."""
        self.address.unlink(missing_ok=True)  # left behind by a killed process
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(self.address))
        finally:
            os.umask(before)
        listener.listen(16)
        return listener

    def make(self) -> None:
        """Create the folder if it is missing; raises UnsafeFolder if other users could use it."""
        if len(os.fsencode(self.address)) > _MAX_PATH:
            raise UnsafeFolder(f"{self.address} is too long for a socket")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.check()

    def check(self) -> None:
        """Raise UnsafeFolder unless the folder is no link, belongs to this user, and is closed to others."""
        try:
            status = self.folder.lstat()
        except OSError as error:
            raise UnsafeFolder(f"{self.folder}: {error.strerror}") from error
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise UnsafeFolder(f"{self.folder} is not a folder that only you can open")


def is_mine(connection: socket.socket) -> bool:
    """Whether the process at the other end belongs to this user."""
    if hasattr(socket, "SO_PEERCRED"):
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(raw)[1]) == os.geteuid()
    return False


def _lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
