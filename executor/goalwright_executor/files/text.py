"""Reads the text of a file, or explains why it has none."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.format.frontmatter import decode
from goalwright_skills.text.untrusted import why_not_text

if TYPE_CHECKING:
    from pathlib import Path

SIZE_LIMIT = 20 * 1024 * 1024


class FileRefused(Exception):
    """A file without a readable text; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, and the hash of its bytes."""

    text: str
    sha256: str


def read(path: Path) -> FileText:
    """Return the text of a file; raises FileRefused if it is too large, not text, or cannot be read."""
    try:
        with open(path, "rb", opener=_open_nonblocking) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise FileRefused("it is not a regular file; give one with text")
            if status.st_size > SIZE_LIMIT:
                raise FileRefused(
                    f"it has {status.st_size:,} bytes, more than the {SIZE_LIMIT:,} allowed; give a part of it"
                )
            data = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError as error:
        raise FileRefused("it no longer exists") from error
    except OSError as error:
        raise FileRefused(f"it cannot be read: {error.strerror or error}") from error
    if (why := why_not_text(data)) is not None:
        raise FileRefused(f"it is {why}; give its text, or use a model that calls tools")
    text = decode(data).lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return FileText(text.strip("\n"), hashlib.sha256(data).hexdigest())


def digest(path: Path) -> str | None:
    """Return the hash of a file's bytes; None if it cannot be read."""
    try:
        with open(path, "rb", opener=_open_nonblocking) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _open_nonblocking(path: str, flags: int) -> int:
    """Open without blocking: a pipe instead of a file must not stop the run."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
