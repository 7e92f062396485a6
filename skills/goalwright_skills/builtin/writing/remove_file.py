"""`DeleteFile` and `MoveFile`: delete or move a file of the workspace. Both are off by default."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills import safe_files, safe_moves
from goalwright_skills.builtin.writing import patch
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.changing_tool import (
    ChangesFiles,
    ChangingTool,
    FileCall,
    displayed,
    refuse_unknown,
)
from goalwright_skills.builtin.writing.file_change import FileChange
from goalwright_skills.builtin.writing.targets import LARGEST, PREFIX, SIZE_LIMIT, Target, target_of
from goalwright_skills.safe_moves import Content
from goalwright_skills.tools.parameter import string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.builtin.writing.write_place import WritePlace


class DeleteFile(ChangingTool):
    """Deletes a file of the workspace."""

    name = "DeleteFile"
    description = "Delete a workspace file."
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters("path", path=string_parameter(f"{PREFIX}old.md"))

    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileRemoval:
        """Return one call of the tool."""
        return FileRemoval(self, place, arguments)

    def elsewhere(self, _place: WritePlace) -> str:
        """Return what to do if the workspace may not be changed."""
        return "leave the file where it is, and mention this"


class MoveFile(DeleteFile):
    """Moves a file of the workspace."""

    name = "MoveFile"
    description = "Move a workspace file to a free path."
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path", "to", path=string_parameter(f"{PREFIX}a.md"), to=string_parameter(f"{PREFIX}b/a.md")
    )


class FileRemoval(FileCall):
    """One call that deletes the file `path`, or moves it if the call has `to`."""

    def __init__(self, tool: ChangesFiles, place: WritePlace, arguments: dict[str, Any]) -> None:
        refuse_unknown(arguments, tool.parameters)
        names = tool.parameters["required"]
        super().__init__(tool, place, arguments, *(_target(name, arguments.get(name), place) for name in names))
        self.to = self.targets[1] if len(self.targets) > 1 else None

    def check_content(self) -> None:
        """Raise if the file does not exist, or if the new path is taken."""
        if self.proposed() is None:
            self._size()

    def diff(self) -> str:
        """Return the diff of the proposed change, which is stored until the call is made."""
        change = self._change()
        if self.to is not None:
            return displayed(patch.rename(change.path, self.to.path))
        if change.size is not None:
            return displayed(f"delete {change.path}, which has {change.size:,} bytes")
        data = self.place.changes.content(change.before or "")
        try:
            return displayed(patch.diff(change.path, data.decode(), None, change.mode))
        except UnicodeDecodeError:
            return f"delete {change.path}, which is not text and has {len(data):,} bytes"

    def change(self) -> tuple[str, dict[str, Any]]:
        """Delete or move the file."""
        change = self.place.changes.apply(self._change())
        rows = [{"path": path, "sha256": after, "before": before} for path, (before, after) in change.ends.items()]
        done = f"moved {change.path} to {change.to}" if change.to is not None else f"deleted {change.path}"
        return f"{done} in the workspace", {"path": str((self.to or self.target).file), "changes": rows}

    def _change(self) -> FileChange:
        """Return the change that was proposed for this call, or a new one."""
        proposed, to = self.proposed(), self.to.path if self.to is not None else None
        if proposed is not None and (proposed.path, proposed.to) == (self.target.path, to):
            return proposed
        data, content = self._found()
        mode, size = self.place.changes.mode(self.target.path), None if data is not None else content.size
        change = FileChange(
            self.key, self.target.path, content.sha256, None, self.digest, action="delete", mode=mode, size=size
        )
        if to is not None:
            change = replace(change, action="move", to=to, after=content.sha256)
        return self.place.changes.propose(change, data)

    def _found(self) -> tuple[bytes | None, Content]:
        """Return the file's bytes, or None if it is too large to be copied, and its content hash."""
        if self._size() > SIZE_LIMIT:
            data, content = None, safe_moves.content_of(self.target.file, below=self.place.workspace)
        else:
            data = self.current(self.target, self.place.workspace)
            content = None if data is None else Content(sha256(data), len(data))
        if content is None:
            raise self._gone()
        return data, content

    def _size(self) -> int:
        """Return the file's size; raises if it cannot be removed, or if the new path is taken."""
        if self.to is not None and os.path.lexists(self.to.file):
            raise ToolFault("CONFLICT", f"{self.to.name} already exists — move it to another path")
        size = safe_moves.size_of(self.target.file, below=self.place.workspace)
        if size is None:
            raise self._gone()
        if size > LARGEST:
            raise ToolFault("INVALID_PARAM", f"{self.target.name} has more than 10 GB — leave it where it is")
        if size > SIZE_LIMIT and not self._is_beside():
            problem = f"{self.target.name} has {size:,} bytes, which is too large to copy to another file system"
            raise ToolFault("EXECUTION_ERROR", f"{problem} — leave it where it is")
        return size

    def _is_beside(self) -> bool:
        """Return whether a large file can be renamed to its new or kept path, on the same file system."""
        destination = self.to.file.parent if self.to is not None else self.place.changes.folder
        return safe_files.nearest(destination).stat().st_dev == self.target.file.lstat().st_dev

    def _gone(self) -> ToolFault:
        return ToolFault("NOT_FOUND", f"{self.target.name} does not exist — find it with ListFiles")


def _target(name: str, path: object, place: WritePlace) -> Target:
    """Return a file of the workspace; raises ToolFault for any other."""
    target = target_of(path, place.workspace, place.artifacts)
    if not target.in_workspace:
        problem = f"{name} {path!r} is not a file of the workspace"
        raise ToolFault("INVALID_PARAM", f"{problem} — give its path as {PREFIX}{target.path}")
    return target
