"""Changes one setting in the user's config.toml, and nothing else in it."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

from weft_skills import safe_files
from weft_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

_FIX = "fix the file, or change the setting there yourself"


def set_value(path: Path, name: str, value: str) -> None:
    """Set a setting to a string; the rest of the file, comments included, stays as it is."""
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        known = tomllib.loads(before)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SetupError(f"{path} cannot be read: {error}", hint=_FIX) from error
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    top, found = re.subn(rf"(?m)^{re.escape(name)}\s*=.*$", lambda _: line, _top(before), count=1)
    after = (top if found else f"{line}\n{top}") + before[len(_top(before)) :]
    try:
        is_right = tomllib.loads(after) == known | {name: value}
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:  # such as a value of several lines
        raise SetupError(f"{name!r} in {path} cannot be changed safely", hint=_FIX)
    safe_files.write(path, after, below=safe_files.nearest(path.parent))


def _top(text: str) -> str:
    """The part of a TOML file before its first table."""
    table = re.search(r"(?m)^\s*\[", text)
    return text[: table.start()] if table else text
