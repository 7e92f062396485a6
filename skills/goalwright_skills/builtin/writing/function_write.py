"""Tools from functions that write a workspace file, with the rules of `WriteFile`.

The function gets a folder with a copy of that one file instead of the workspace. Its result is written like every other
change: only if the user allows it, only if the file is unchanged since, and so that it can be undone.
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
        self.parameters = tool.parameters  # type: ignore[misc]  # an attribute of each instance

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Return the effects of a call."""
        try:
            target = self._call(arguments).target
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will change, so nobody needs to be asked
        return Effects("workspace" if target.in_workspace else "artifacts", idempotent=True)

    def _checked(self, writing: FileCall) -> tuple[str, dict[str, Any]]:
        writing.check_place()  # the new content is not known before the call
        return "", {}

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """Return the call: a diff of a binary file would not be readable."""
        return call_text(self.name, arguments)

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """Return the file that the parameter names, relative to the workspace."""
        path = arguments.get(self._parameter)
        if not isinstance(path, str) or not path.strip():
            raise ToolFault("INVALID_PARAM", f"{self._parameter} is missing: {path!r:.80} — name the file to write")
        absolute = Path(os.path.normpath(place.workspace / path.strip()))
        if absolute.is_relative_to(place.artifacts):
            return target_of(str(absolute), place.workspace, place.artifacts)
        return target_of(f"{PREFIX}{path.strip()}", place.workspace, place.artifacts)

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """Return the new content of the file, and the function's own text."""
        inputs, faults = check_arguments(self._tool.inputs, arguments)
        if faults:
            raise ToolFault("INVALID_PARAM", "; ".join(faults))
        with tempfile.TemporaryDirectory(prefix="goalwright-write-") as temporary:
            folder = Path(temporary)
            if before is not None:
                safe_files.write(folder / target.path, before, below=folder)
            result = self._call_function({**inputs, self._parameter: target.path, "workspace": folder})
            after = safe_files.read(folder / target.path, below=folder, limit=SIZE_LIMIT)
        if after is None:
            raise ToolFault("EXECUTION_ERROR", f"{self.name} wrote nothing to {target.path} — try other arguments")
        location = "" if target.in_workspace else f"; it is in the run's artifacts, at {target.file}"
        return after, f"{result}{location}" if isinstance(result, str) and result else ""

    def elsewhere(self, place: WritePlace) -> str:
        """Return where the function may write: it cannot name artifacts by a relative path."""
        return f"write into the run's artifacts instead: {place.artifacts}/NAME"

    def _call_function(self, keywords: dict[str, Any]) -> Any:
        try:
            return self._tool.function(**keywords)
        except ToolFault:
            raise
        except Exception as error:  # a function may raise any exception
            problem = f"{self.name} failed: {type(error).__name__} — try other arguments, or tell its author"
            raise ToolFault("EXECUTION_ERROR", problem) from error


def bound(tools: Mapping[str, Tool], place: WritePlace) -> dict[str, Tool]:
    """Return the tools, with functions that write a file bound to one task."""
    from goalwright_skills.functions.functions import FunctionTool

    return {
        name: FunctionWrite(tool, place) if isinstance(tool, FunctionTool) and changed_file(tool.function) else tool
        for name, tool in tools.items()
    }
