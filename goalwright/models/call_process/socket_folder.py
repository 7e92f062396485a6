"""Where the shared process listens: in a folder that only its user can open, under a name for this installation."""

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
# The kernel takes 108 bytes of a socket's path, the last one zero.
_LONGEST = 107


class UnsafeFolder(OSError):
    """There is no folder in which a socket would be this user's alone."""


@dataclass(frozen=True, slots=True)
class SocketFolder:
    """The socket and the lock of one installation: another version, interpreter or environment has its own."""

    folder: Path
    name: str

    @classmethod
    def of(cls, cache: Path) -> SocketFolder:
        """The folder below the user's cache folder."""
        installation = "\0".join((__version__, sys.version, sys.prefix, str(Path(__file__).parents[3])))
        return cls(cache / "calls", hashlib.sha256(installation.encode()).hexdigest()[:16])

    @property
    def address(self) -> Path:
        """The socket's path."""
        return self.folder / f"{self.name}.sock"

    @property
    def lock(self) -> Path:
        """The file that a living process has locked; it holds its process id."""
        return self.folder / f"{self.name}.lock"

    def served_by(self) -> int | None:
        """The process that serves the socket, if one does."""
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
        """The lock, held for as long as this file is open; None if another process has it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(self.lock, flags, 0o600), "r+b", buffering=0)
        if not _lock(file):
            file.close()
            return None
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        return file

    def listen(self) -> socket.socket:
        """The socket, for the process that has the lock."""
        self.address.unlink(missing_ok=True)  # a process that was killed left it
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(self.address))
        finally:
            os.umask(before)
        listener.listen(16)
        return listener

    def make(self) -> None:
        """Make the folder, or check the one that is there; raises UnsafeFolder if anyone else could use it."""
        if len(os.fsencode(self.address)) > _LONGEST:
            raise UnsafeFolder(f"{self.address} is too long for a socket")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.check()

    def check(self) -> None:
        """Raise UnsafeFolder unless the folder is a real one, this user's, and closed to all others."""
        try:
            status = self.folder.lstat()
        except OSError as error:
            raise UnsafeFolder(f"{self.folder}: {error.strerror}") from error
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise UnsafeFolder(f"{self.folder} is not a folder that only you can open")


def is_mine(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's."""
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
