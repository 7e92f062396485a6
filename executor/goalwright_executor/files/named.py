"""The files of a workspace that a goal names, for models that cannot look for them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.hidden_paths import is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

# A goal that names more is about a folder, and says so by naming some of them.
MOST = 8
# What stands in quotes, which may hold spaces, and a word that ends in a suffix.
_QUOTED = re.compile(r"[\"“„«`']([^\"”“»`'\n]{1,200}\.\w{1,8})[\"”“»`']")
_WORD = re.compile(r"(?<![\w/.:@])[\w.~+@-][\w./~+@-]*\.[A-Za-z0-9]{1,8}(?![\w/@-])")


def named_files(goal: str, workspace: Path) -> tuple[Path, ...]:
    """The files below a workspace that a goal names as they are called there; none that is hidden from tools."""
    root = Path(os.path.realpath(workspace))
    paths = dict.fromkeys(path for name in _names(goal) if (path := _file(name, root)) is not None)
    return tuple(paths)[:MOST]


def _names(goal: str) -> Iterator[str]:
    for pattern, group in ((_QUOTED, 1), (_WORD, 0)):
        yield from (match.group(group) for match in pattern.finditer(goal))


def _file(name: str, root: Path) -> Path | None:
    """The file of that name, if it really lies below the root."""
    try:
        path = Path(os.path.realpath(root / name))
        inside = path != root and path.is_relative_to(root) and not is_hidden(root, path)
        return path if inside and path.is_file() and os.access(path, os.R_OK) else None
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return None
