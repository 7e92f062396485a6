"""Writes files atomically: a file is either written completely or left unchanged."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a text; on failure the file is unchanged, and the error names it."""
    with opened(path) as file:
        file.write(text)


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """Yield a temporary file that replaces `path` when the block ends; if the block fails, `path` is unchanged.

    Symbolic links are followed. Pipes, devices and files in a read-only folder are written directly.
    """
    target = path.resolve()
    draft = target.with_name(f".goalwright-{secrets.token_hex(8)}")
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and (not stat.S_ISREG(mode) or not os.access(target.parent, os.W_OK)):
            with target.open("w", encoding="utf-8") as file:
                yield file
            return
        try:
            with draft.open("x", encoding="utf-8") as file:
                yield file
            if mode is not None:
                draft.chmod(stat.S_IMODE(mode))
            draft.replace(target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        if error.filename not in (None, str(target), str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
