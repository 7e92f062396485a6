"""Where the helper's socket is: in a folder that only this user can open, under a name for this installation."""

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

from weft.version import __version__

_CREDENTIALS = struct.Struct("3i")  # process, user, group
# The kernel takes 108 bytes of a socket's path, the last one zero.
_LONGEST = 107


class NoPlace(OSError):
    """There is no folder in which a socket would be this user's alone."""


@dataclass(frozen=True, slots=True)
class Place:
    """The files of the helper of one installation: another version, interpreter or environment has its own."""

    folder: Path
    name: str

    @classmethod
    def of(cls, cache: Path) -> Place:
        """The place below the user's cache folder."""
        installation = "\0".join((__version__, sys.version, sys.prefix, str(Path(__file__).parents[3])))
        return cls(cache / "helper", hashlib.sha256(installation.encode()).hexdigest()[:16])

    @property
    def socket(self) -> Path:
        """The socket."""
        return self.folder / f"{self.name}.sock"

    @property
    def lock(self) -> Path:
        """The file that a living helper has locked; it holds its process id."""
        return self.folder / f"{self.name}.lock"

    def served_by(self) -> int | None:
        """The process id of the helper that is running, if one is."""
        try:
            self.check()
            descriptor = os.open(self.lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # it is locked
            number = os.read(descriptor, 20)
            return int(number) if number.isdigit() else None
        finally:
            os.close(descriptor)
        return None

    def make(self) -> None:
        """Make the folder, or check the one that is there; raises NoPlace if anyone else could use it."""
        if len(os.fsencode(self.socket)) > _LONGEST:
            raise NoPlace(f"{self.socket} is too long for a socket")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.check()

    def check(self) -> None:
        """Raise NoPlace unless the folder is a real one, this user's, and closed to all others."""
        try:
            found = self.folder.lstat()
        except OSError as error:
            raise NoPlace(f"{self.folder}: {error.strerror}") from error
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise NoPlace(f"{self.folder} is not a folder that only you can open")


def is_mine(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's."""
    if hasattr(socket, "SO_PEERCRED"):
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(raw)[1]) == os.geteuid()
    return False
