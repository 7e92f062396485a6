"""Paths in what is recorded are relative to named roots, so that a record means the same in another checkout."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_MARK = re.compile(r"⟦([a-z][a-z0-9-]*)⟧")


@dataclass(frozen=True, slots=True)
class NamedRoots:
    """Folders by name; a path below one is written `⟦name⟧/…` in a record and as it is everywhere else."""

    folders: Mapping[str, str]
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _names: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {folder: name for name, folder in reversed(list(self.folders.items())) if len(folder) > 1}
        longest_first = sorted(names, key=len, reverse=True)
        either = "|".join(re.escape(folder) for folder in longest_first)
        # Only whole path components count: /tmp/work is no root of /tmp/workshop or of /mnt/tmp/work.
        pattern = re.compile(rf"(?<![\w.\-])(?:{either})(?![\w\-])") if names else None
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_pattern", pattern)

    @classmethod
    def of(cls, run: Path, workspace: Path, others: Iterable[tuple[str, Path]] = ()) -> NamedRoots:
        """The roots of a run: its own folder, the workspace, and others such as where skills lie."""
        folders = {"run": str(run), "workspace": str(workspace)}
        for name, path in others:
            folders.setdefault(name, str(path))
        return cls(folders)

    def portable(self, text: str) -> str:
        """The text with each path below a root relative to its name."""
        if self._pattern is None or os.sep not in text:
            return text
        return self._pattern.sub(lambda match: f"⟦{self._names[match.group()]}⟧", text)

    def local(self, text: str) -> str:
        """The text with names of roots replaced by the folders that they stand for here."""
        if "⟦" not in text:
            return text
        return _MARK.sub(lambda match: self.folders.get(match.group(1), match.group()), text)
