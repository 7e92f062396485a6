"""A function that writes a file of the workspace, as a tool that goes by the rules of `WriteFile`.

The function does not get the workspace itself but a folder with a copy of that one file. What it leaves there is then
written as every other change is: only if the user allows it, to the file that it was made from, and so that
`goalwright changes --undo` takes it back.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.builtin.writing.targets import PREFIX, SIZE_LIMIT, Target, target_of
from goalwright_skills.builtin.writing.write_file import WriteFile
from goalwright_skills.tools.effects import READ_ONLY, Effects, call_text, changed_file
from goalwright_skills.tools.parameter import check_arguments
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.builtin.writing.changing_tool import FileCall
    from goalwright_skills.builtin.writing.write_place import WritePlace
    from goalwright_skills.functions.functions import FunctionTool
    from goalwright_skills.tools.tool import Tool


class FunctionWrite(WriteFile):
    """Calls a function that is marked with `changes_file`."""

    edits = True

    def __init__(self, tool: FunctionTool, place: WritePlace) -> None:
        super().__init__(place)
        self._tool = tool
        self._parameter = changed_file(tool.function)
        self.name = tool.name
        self.description = tool.description
        self.parameters = tool.parameters  # type: ignore[misc]  # of this function, not of all

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What it writes, if it may."""
        try:
            target = self._call(arguments).target
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will be written, so nobody needs to be asked
        return Effects("workspace" if target.in_workspace else "artifacts", idempotent=True)

    def _checked(self, writing: FileCall) -> tuple[str, dict[str, Any]]:
        writing.check_place()  # what the function makes of the file is not known before it is called
        return "", {}

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """The call alone: a diff of a binary file would not be readable."""
        return call_text(self.name, arguments)

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """The file that the parameter names, relative to the workspace."""
        path = arguments.get(self._parameter)
        if not isinstance(path, str) or not path.strip():
            raise ToolFault("INVALID_PARAM", f"{self._parameter} is missing: {path!r:.80} — name the file to write")
        whole = Path(os.path.normpath(place.workspace / path.strip()))
        if whole.is_relative_to(place.artifacts):
            return target_of(str(whole), place.workspace, place.artifacts)
        return target_of(f"{PREFIX}{path.strip()}", place.workspace, place.artifacts)

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """What the function makes of the file, and its own words."""
        filled, faults = check_arguments(self._tool.inputs, arguments)
        if faults:
            raise ToolFault("INVALID_PARAM", "; ".join(faults))
        with tempfile.TemporaryDirectory(prefix="goalwright-write-") as made:
            folder = Path(made)
            if before is not None:
                safe_files.write(folder / target.path, before, below=folder)
            said = self._called({**filled, self._parameter: target.path, "workspace": folder})
            after = safe_files.read(folder / target.path, below=folder, limit=SIZE_LIMIT)
        if after is None:
            raise ToolFault("EXECUTION_ERROR", f"{self.name} wrote nothing to {target.path} — try other arguments")
        where = "" if target.in_workspace else f"; it is in the run's artifacts, at {target.file}"
        return after, f"{said}{where}" if isinstance(said, str) and said else ""

    def elsewhere(self, place: WritePlace) -> str:
        """Where it may write: such a function does not know the artifacts by a relative path."""
        return f"write into the run's artifacts instead: {place.artifacts}/NAME"

    def _called(self, given: dict[str, Any]) -> Any:
        try:
            return self._tool.function(**given)
        except ToolFault:
            raise
        except Exception as error:  # a function may raise anything; the model gets an envelope
            what = f"{self.name} failed: {type(error).__name__} — try other arguments, or tell its author"
            raise ToolFault("EXECUTION_ERROR", what) from error


def bound(tools: Mapping[str, Tool], place: WritePlace) -> dict[str, Tool]:
    """The same tools, those that are functions which write a file bound to one task."""
    from goalwright_skills.functions.functions import FunctionTool

    return {
        name: FunctionWrite(tool, place) if isinstance(tool, FunctionTool) and changed_file(tool.function) else tool
        for name, tool in tools.items()
    }
