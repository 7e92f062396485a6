"""Finds the workspace files that a goal names, for models that cannot look for them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.hidden_paths import is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

# A goal that names more files is about a folder.
MAX_FILES = 8
# A name in quotes, which may contain spaces, and a word with a suffix.
_QUOTED = re.compile(r"[\"“„«`']([^\"”“»`'\n]{1,200}\.\w{1,8})[\"”“»`']")
_WORD = re.compile(r"(?<![\w/.:@])[\w.~+@-][\w./~+@-]*\.[A-Za-z0-9]{1,8}(?![\w/@-])")


def named_files(goal: str, workspace: Path) -> tuple[Path, ...]:
    """Return the files below a workspace that a goal names, without those hidden from tools."""
    root = Path(os.path.realpath(workspace))
    paths = dict.fromkeys(path for name in _names(goal) if (path := _file(name, root)) is not None)
    return tuple(paths)[:MAX_FILES]


def _names(goal: str) -> Iterator[str]:
    for pattern, group in ((_QUOTED, 1), (_WORD, 0)):
        yield from (match.group(group) for match in pattern.finditer(goal))


def _file(name: str, root: Path) -> Path | None:
    """Return the file with this name if it is really below the root."""
    try:
        path = Path(os.path.realpath(root / name))
        inside = path != root and path.is_relative_to(root) and not is_hidden(root, path)
        return path if inside and path.is_file() and os.access(path, os.R_OK) else None
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return None
