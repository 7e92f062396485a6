"""Changes one setting in the user's config.toml, and keeps the rest of the file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.errors import SetupError
from goalwright_skills.format.documents import TOML_LIMIT, parse_toml

if TYPE_CHECKING:
    from pathlib import Path

_FIX = "fix the file, or change the setting there yourself"


def set_value(path: Path, name: str, value: str) -> None:
    """Set a setting to a string; everything else in the file, including comments, is unchanged."""
    try:
        before = untrusted_files.read_text(path, TOML_LIMIT) if path.exists() else ""
        old = parse_toml(before)
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}", hint=_FIX) from error
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    top, count = re.subn(rf"(?m)^{re.escape(name)}\s*=.*$", lambda _: line, _top(before), count=1)
    after = (top if count else f"{line}\n{top}") + before[len(_top(before)) :]
    try:
        is_valid = parse_toml(after) == old | {name: value}
    except ValueError:
        is_valid = False
    if not is_valid:  # such as after a multi-line value
        raise SetupError(f"{name!r} in {path} cannot be changed safely", hint=_FIX)
    safe_files.write(path, after, below=safe_files.nearest(path.parent))


def _top(text: str) -> str:
    """The part of a TOML file before its first table."""
    table = re.search(r"(?m)^\s*\[", text)
    return text[: table.start()] if table else text
