"""One call that takes a file of the workspace from its path: it deletes it, or moves it to another path."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft_skills.builtin.writing import patch
from weft_skills.builtin.writing.changes import sha256
from weft_skills.builtin.writing.file_call import ChangesFiles, FileCall, refuse_unknown, shown
from weft_skills.builtin.writing.file_change import FileChange
from weft_skills.builtin.writing.targets import PREFIX, Target, target_of
from weft_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from weft_skills.builtin.writing.write_place import WritePlace


class FileRemoval(FileCall):
    """Deletes the file `path`, or moves it if a call has `to`."""

    def __init__(self, tool: ChangesFiles, place: WritePlace, arguments: dict[str, Any]) -> None:
        refuse_unknown(arguments, tool.parameters)
        names = tool.parameters["required"]
        super().__init__(tool, place, arguments, *(_target(name, arguments.get(name), place) for name in names))
        self.to = self.targets[1] if len(self.targets) > 1 else None

    def check_content(self) -> None:
        """Raise if there is nothing to take away, or something where it would go."""
        if self.known() is None:
            self._current()

    def diff(self) -> str:
        """The difference to be made, which is kept until the call is made."""
        change = self._change()
        if self.to is not None:
            return shown(patch.rename(change.path, self.to.path))
        data = self.place.changes.content(change.before or "")
        try:
            return shown(patch.diff(change.path, data.decode(), None, change.mode))
        except UnicodeDecodeError:
            return f"delete {change.path}, which is not text and has {len(data):,} bytes"

    def change(self) -> tuple[str, dict[str, Any]]:
        """Take it away."""
        change = self.place.changes.apply(self._change())
        rows = [{"path": path, "sha256": after, "before": before} for path, (before, after) in change.ends.items()]
        done = f"moved {change.path} to {change.to}" if change.to is not None else f"deleted {change.path}"
        return f"{done} in the workspace", {"path": str((self.to or self.target).file), "changes": rows}

    def _change(self) -> FileChange:
        """The change that was proposed for this call, or a new one."""
        known, to = self.known(), self.to.path if self.to is not None else None
        if known is not None and (known.path, known.to) == (self.target.path, to):
            return known
        data = self._current()
        digest, mode = sha256(data), self.place.changes.mode(self.target.path)
        change = FileChange(self.key, self.target.path, digest, None, self.digest, action="delete", mode=mode)
        if to is not None:
            change = replace(change, action="move", to=to, after=digest)
        return self.place.changes.propose(change, data)

    def _current(self) -> bytes:
        if self.to is not None and os.path.lexists(self.to.file):
            raise ToolFault("CONFLICT", f"{self.to.name} exists already — move it to another path")
        data = self.current(self.target, self.place.workspace)
        if data is None:
            raise ToolFault("NOT_FOUND", f"{self.target.name} does not exist — look with ListFiles")
        return data


def _target(name: str, path: object, place: WritePlace) -> Target:
    """A file of the workspace; raises ToolFault for any other."""
    target = target_of(path, place.workspace, place.artifacts)
    if not target.in_workspace:
        what = f"{name} {path!r} is not a file of the workspace"
        raise ToolFault("INVALID_PARAM", f"{what} — give its path as {PREFIX}{target.path}")
    return target
