"""`ListFiles`: lists a folder, or all files below it that match a glob."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.reading_tool import ReadingTool, fitting, in_thread
from goalwright_skills.builtin.search.walk import GLOB, Walk, glob_of
from goalwright_skills.tools.parameter import string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.builtin.readable_roots import ReadableRoots
    from goalwright_skills.tools.envelope import Envelope


class ListFiles(ReadingTool):
    """Lists a folder below the roots, or all files below it that match a glob."""

    name = "ListFiles"
    description = (
        "List a folder of the workspace or of a skill: folders end with `/`, files have their size. "
        "With `glob`, list all files below it that match."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path",
        path=string_parameter("The folder, absolute or relative to the workspace; `.` is the workspace."),
        glob=GLOB,
    )

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """List the folder; every error has a reason and a next step."""
        return await in_thread(self._roots, arguments, self._list)

    def _list(self, real: Path, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any], bool]:
        glob = glob_of(arguments)
        if glob is None:
            return self._list_folder(real)
        walk = _walk(self._roots, real)
        matches = [path for path in walk.files() if glob.matches(path)]
        text, shown = fitting(matches, room=200)
        left = len(matches) - shown
        notes = [f"[{left} more files match; use a narrower glob]"] if left else []
        notes += ["[not all folders were searched; name a folder below this one]"] if walk.cut else []
        data = {"path": str(real), "entries": matches[:shown], "total": len(matches)}
        return (text + "\n".join(notes)) or "(no file matches)", data, bool(notes)

    def _list_folder(self, real: Path) -> tuple[str, dict[str, Any], bool]:
        descriptor = self._roots.open(real)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise ToolFault("INVALID_PARAM", f"{real} is a file, not a folder; read it with ReadFile")
            with os.scandir(descriptor if os.scandir in os.supports_fd else real) as entries:
                names = sorted(_entry(entry) for entry in entries if not self._roots.hides_entry(real, entry.name))
        finally:
            os.close(descriptor)
        text, shown = fitting(names, room=100)
        left = len(names) - shown
        note = f"[{left} more entries are not listed; list a subfolder, or read a file by its name]" if left else ""
        return (
            (text + note) or "(empty)",
            {"path": str(real), "entries": names[:shown], "total": len(names)},
            left > 0,
        )


def _walk(roots: ReadableRoots, real: Path) -> Walk:
    descriptor = roots.open(real)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise ToolFault("INVALID_PARAM", f"{real} is a file, not a folder; read it with ReadFile")
    finally:
        os.close(descriptor)
    return Walk(roots, real)


def _entry(entry: os.DirEntry[str]) -> str:
    if entry.is_dir(follow_symlinks=False):
        return f"{entry.name}/"
    if entry.is_symlink():
        return f"{entry.name} (link)"
    try:
        return f"{entry.name} ({entry.stat(follow_symlinks=False).st_size} bytes)"
    except OSError:
        return entry.name
