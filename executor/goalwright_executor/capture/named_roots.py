"""Makes recorded paths relative to named roots, so that a record is valid in another checkout."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_RUN = "run"
_LISTED = "<location>"
_OPEN = "⟦"
_MARK = re.compile(r"⟦(=|[a-z][a-z0-9-]*)⟧")


@dataclass(frozen=True, slots=True)
class NamedRoots:
    """Folders by name; a path below one is recorded as `⟦name⟧/…`."""

    folders: Mapping[str, str]
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _names: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {folder: name for name, folder in reversed(list(self.folders.items())) if len(folder) > 1}
        names |= {escape(folder): name for folder, name in names.items()}  # as in listings, which are XML
        shared = tuple(folder for folder, name in names.items() if name != _RUN)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_pattern", _any_of(shared) if shared else None)

    @classmethod
    def of(cls, run: Path, workspace: Path, others: Iterable[tuple[str, Path]] = ()) -> NamedRoots:
        """Return the roots of a run: its own folder, the workspace, and others such as skill locations."""
        folders = {_RUN: str(run), "workspace": str(workspace)}
        for name, path in others:
            folders.setdefault(name, str(path))
        return cls(folders)

    def portable(self, text: str) -> str:
        """Replace the roots in paths by their names; text that looks like such a name is escaped."""
        if _OPEN in text:
            text = text.replace(_OPEN, f"{_OPEN}=⟧")
        if self._pattern is None or os.sep not in text:
            return text
        # Every run has its own folder: a pattern for it is compiled only when needed.
        own = self.folders.get(_RUN)
        if own is not None and (own in text or (escape(own) != own and escape(own) in text)):
            text = _any_of((own, escape(own))).sub(f"⟦{_RUN}⟧", text)
        return self._pattern.sub(self._mark, text)

    def local(self, text: str) -> str:
        """Replace the names of roots by their folders in this checkout."""
        if _OPEN not in text:
            return text
        return _MARK.sub(self._folder, text)

    def _mark(self, folder: re.Match[str]) -> str:
        return f"⟦{self._names[folder.group()]}⟧"

    def _folder(self, mark: re.Match[str]) -> str:
        if mark.group(1) == "=":
            return _OPEN
        folder = self.folders.get(mark.group(1), mark.group())
        return escape(folder) if mark.string.endswith(_LISTED, 0, mark.start()) else folder


def is_marked(text: str) -> bool:
    """Whether a recorded text may contain the name of a root, or an escaped mark."""
    return _OPEN in text


@lru_cache(maxsize=64)
def _any_of(folders: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for any of the folders, the longest first.

    Only whole path components match: /tmp/work matches neither /tmp/workshop nor /mnt/tmp/work. The lookbehind follows
    the slash that all folders start with, because a pattern with a literal prefix is ten times as fast.
    """
    longest_first = sorted(folders, key=len, reverse=True)
    starts = {folder[:1] for folder in folders}
    first = starts.pop() if len(starts) == 1 else ""
    suffixes = "|".join(re.escape(folder.removeprefix(first)) for folder in longest_first)
    return re.compile(rf"{re.escape(first)}(?<![\w.\-]{re.escape(first)})(?:{suffixes})(?![\w\-])")
