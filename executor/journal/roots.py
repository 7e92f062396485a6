"""Paths in what is recorded are relative to named roots, so that a record means the same in another checkout."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

_LISTED = "<location>"
_MARK = re.compile(r"⟦([a-z][a-z0-9-]*)⟧")


@dataclass(frozen=True, slots=True)
class NamedRoots:
    """Folders by name; a path below one is written `⟦name⟧/…` in a record and as it is everywhere else."""

    folders: Mapping[str, str]
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _names: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _run: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A run's own folder lies in the workspace, and is found there: all other roots are the same from run to run,
        # and making their pattern takes longer than most uses of it.
        run, workspace = self.folders.get("run", ""), self.folders.get("workspace", "")
        inside = bool(workspace) and run.startswith(workspace + os.sep)
        others = {name: folder for name, folder in self.folders.items() if not (inside and name == "run")}
        object.__setattr__(self, "_run", f"⟦workspace⟧{run.removeprefix(workspace)}" if inside else None)
        names = {folder: name for name, folder in reversed(list(others.items())) if len(folder) > 1}
        names |= {escape(folder): name for folder, name in names.items()}  # as a listing has it, which is XML
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_pattern", _any_of(tuple(names)) if names else None)

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
        text = self._pattern.sub(lambda match: f"⟦{self._names[match.group()]}⟧", text)
        if self._run is None or self._run not in text:
            return text
        return re.sub(rf"{re.escape(self._run)}(?![\w\-])", "⟦run⟧", text)

    def local(self, text: str) -> str:
        """The text with names of roots replaced by the folders that they stand for here."""
        if "⟦" not in text:
            return text
        return _MARK.sub(self._folder, text)

    def _folder(self, mark: re.Match[str]) -> str:
        folder = self.folders.get(mark.group(1), mark.group())
        return escape(folder) if mark.string.endswith(_LISTED, 0, mark.start()) else folder


@lru_cache(maxsize=64)
def _any_of(folders: Collection[str]) -> re.Pattern[str]:
    """A pattern for any of the folders, the longest first.

    Only whole path components count: /tmp/work is no root of /tmp/workshop or of /mnt/tmp/work. What must not stand
    before a folder is looked for behind the slash that all begin with: a pattern with a plain start is found ten times
    as fast.
    """
    longest_first = sorted(folders, key=len, reverse=True)
    starts = {folder[:1] for folder in folders}
    first = starts.pop() if len(starts) == 1 else ""
    rests = "|".join(re.escape(folder.removeprefix(first)) for folder in longest_first)
    return re.compile(rf"{re.escape(first)}(?<![\w.\-]{re.escape(first)})(?:{rests})(?![\w\-])")
