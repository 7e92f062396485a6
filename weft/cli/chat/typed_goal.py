"""A goal as it is typed: files after `@`, skills after `$`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from weft.runs.goal import Goal

if TYPE_CHECKING:
    from collections.abc import Collection

_FILE = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_SKILL = re.compile(r"(?<!\S)\$([a-z0-9]+(?:-[a-z0-9]+)*)\b")


def typed_goal(text: str, base: Goal, skills: Collection[str], folders: tuple[Path, ...]) -> Goal:
    """The goal in a typed text, with what every goal of the chat is given.

    What follows `@` is a file if there is one of that name in a folder; else it stays text, as what follows `$` does if
    no skill is called so.
    """
    files = [file for match in _FILE.finditer(text) if (file := _file(match[1] or match[2], folders)) is not None]
    named = [name for name in _SKILL.findall(text) if name in skills]
    plain = _SKILL.sub(lambda match: match[1] if match[1] in skills else match[0], text)
    return Goal(
        plain,
        skills=tuple(dict.fromkeys((*base.skills, *named))),
        files=tuple(dict.fromkeys((*base.files, *files))),
        stream=base.stream,
    )


def _file(name: str, folders: tuple[Path, ...]) -> Path | None:
    for folder in folders:
        for spelled in dict.fromkeys((name, name.rstrip(".,;:!?)"))):
            if (path := (folder / Path(spelled).expanduser())).is_file():
                return path
    return None
