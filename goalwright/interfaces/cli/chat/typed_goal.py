"""A goal as it is typed, with the files after `@`; what follows `$` stays in its text, where selection reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright.runs.goal import Goal

_FILE = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')


def typed_goal(text: str, base: Goal, folders: tuple[Path, ...]) -> Goal:
    """The goal in a typed text, with what every goal of the chat is given.

    What follows `@` is a file if there is one of that name in a folder; else it stays text.
    """
    files = [file for match in _FILE.finditer(text) if (file := _file(match[1] or match[2], folders)) is not None]
    return replace(base, text=text, files=tuple(dict.fromkeys((*base.files, *files))))


def _file(name: str, folders: tuple[Path, ...]) -> Path | None:
    for folder in folders:
        for spelled in dict.fromkeys((name, name.rstrip(".,;:!?)"))):
            if (path := (folder / Path(spelled).expanduser())).is_file():
                return path
    return None
