"""`EditFile`: replaces a passage of a text file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.parameters import takes, text
from goalwright_skills.builtin.readable_roots import ReadableRoots
from goalwright_skills.builtin.writing.targets import PREFIX
from goalwright_skills.builtin.writing.write_file import WHERE, WriteFile
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.builtin.writing.targets import Target


class EditFile(WriteFile):
    """Replaces a passage of a text file."""

    name = "EditFile"
    description = (
        "Change a text file: replace the passage `old`, which must stand in it exactly once, by `new`; with `all`, "
        f"replace it wherever it stands. Read the file first. {WHERE}"
    )
    edits = True
    parameters: ClassVar[Mapping[str, Any]] = takes(
        "path",
        "old",
        "new",
        path=text(f"The file, such as report.md or {PREFIX}src/app.py."),
        old=text("The passage as it stands in the file, with its line breaks."),
        new=text("What takes its place."),
        all={"type": "boolean", "description": "Whether to replace every occurrence; by default false."},
    )

    def new_text(self, arguments: Mapping[str, Any], old: str | None, target: Target) -> str:
        """The file's text with the passage replaced."""
        if old is None:
            raise ToolFault("NOT_FOUND", self._in_workspace(target) or _nowhere(target))
        passage, new, every = arguments.get("old"), arguments.get("new"), arguments.get("all") or False
        if not isinstance(passage, str) or not isinstance(new, str) or not passage or not isinstance(every, bool):
            raise ToolFault("INVALID_PARAM", "old and new must be texts, old not empty, and all true or false")
        if passage not in old and "\r\n" in old:
            passage, new = (text.replace("\r\n", "\n").replace("\n", "\r\n") for text in (passage, new))
        count = old.count(passage)
        if count == 0 or (count > 1 and not every):
            hint = "read the file and copy the passage as it stands" if count == 0 else "give more of it, or all: true"
            raise ToolFault("CONFLICT", f"old stands {count} times in {target.name}, not once — {hint}")
        return old.replace(passage, new)

    def _in_workspace(self, target: Target) -> str:
        """What to do about a path that the artifacts lack and the workspace has; empty if no tool reads it there."""
        place = self._place
        if place is None or target.in_workspace or not _is_readable(target.path, ReadableRoots(place.workspace)):
            return ""
        if place.writes != "deny":
            return f"the run's artifacts have no {target.name}, but the workspace has — edit {PREFIX}{target.path}"
        what = f"{target.name} is a file of the workspace, which this run may not change without --write"
        return f"{what} — read it with ReadFile, and write the changed text to {target.name} with WriteFile"


def _nowhere(target: Target) -> str:
    return f"{target.name} does not exist — write it with WriteFile"


def _is_readable(path: str, roots: ReadableRoots) -> bool:
    """Whether ReadFile would find a file at a path of the workspace."""
    try:
        descriptor = roots.open(roots.resolve(f"{PREFIX}{path}"))
    except ToolFault:
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
