"""Files that a user named for a result: written whole, or left as they were."""

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
    """Write a text; if that fails, the file is what it was, and the error names it."""
    with opened(path) as file:
        file.write(text)


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A file to write to, which takes the place of `path` when the block ends; if it fails, `path` is what it was.

    A link is followed: the user put it there. A pipe or device is written to as it comes, and so is a file in a folder
    where nothing can be created.
    """
    place = path.resolve()
    draft = place.with_name(f".goalwright-{secrets.token_hex(8)}")
    try:
        found = place.stat().st_mode if place.exists() else None
        if found is not None and (not stat.S_ISREG(found) or not os.access(place.parent, os.W_OK)):
            with place.open("w", encoding="utf-8") as file:
                yield file
            return
        try:
            with draft.open("x", encoding="utf-8") as file:
                yield file
            if found is not None:
                draft.chmod(stat.S_IMODE(found))
            draft.replace(place)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        if error.filename not in (None, str(place), str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
