"""One call that writes a file: where it writes, what stands there, and what will."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from goalwright_skills import safe_files
from goalwright_skills.builtin.writing import patch
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.file_call import ChangesFiles, FileCall, refuse_unknown, shown
from goalwright_skills.builtin.writing.file_change import ARTIFACTS, FileChange
from goalwright_skills.builtin.writing.targets import SIZE_LIMIT, Target
from goalwright_skills.tools.effects import call_text
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.builtin.writing.write_place import WritePlace


class WritingTool(ChangesFiles, Protocol):
    """A tool that writes files."""

    @property
    def edits(self) -> bool:
        """Whether what it writes depends on what is there."""

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """The file that a call writes."""

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """What the file is to hold, by what it holds, and what to say of it; empty for the usual words."""


class FileWrite(FileCall):
    """One call: where it writes, what stands there, and what will."""

    def __init__(self, tool: WritingTool, place: WritePlace, arguments: dict[str, Any]) -> None:
        refuse_unknown(arguments, tool.parameters)
        super().__init__(tool, place, arguments, tool.target(arguments, place))
        self.tool, self.said = tool, ""

    def check_content(self) -> None:
        """Raise if there is no room for it, or if what is there cannot be changed."""
        if not self.target.in_workspace:
            self._refuse_without_room(0)
        elif self.known() is None:
            self._new(self.current(self.target, self.place.workspace))

    def _refuse_without_room(self, size: int) -> None:
        """Raise if the run's files would be too many, or too large, with this one."""
        if full := self.place.disk.exceeded_with(self.target.file, size, self.place.artifacts):
            what = f"{self.target.name} is not written, since the run's files would have {full}"
            raise ToolFault("EXECUTION_ERROR", f"{what} — write less, or go on without it")

    def diff(self) -> str:
        """The difference to be made, which is kept until the call is made."""
        if not self.target.in_workspace:
            return call_text(self.tool.name, self.arguments)
        change, changes = self._change(), self.place.changes
        old, new = (
            None if digest is None else changes.content(digest).decode("utf-8", "replace")
            for digest in (change.before, change.after)
        )
        return shown(patch.diff(change.path, old, new)) or f"{change.path} has this content already"

    def change(self) -> tuple[str, dict[str, Any]]:
        """Write it."""
        return self._change_workspace() if self.target.in_workspace else self._write_artifact()

    def _change_workspace(self) -> tuple[str, dict[str, Any]]:
        change = self.place.changes.apply(self._change())
        row = {"path": change.path, "sha256": change.after, "before": change.before}
        text = self.said or f"changed {change.path} in the workspace"
        return text, {"path": str(self.target.file), "changes": [row]}

    def _write_artifact(self) -> tuple[str, dict[str, Any]]:
        target, workspace = self.target, self.place.workspace
        below = safe_files.anchor(target.root, workspace)
        data = self._artifact_content(below)
        self._refuse_without_room(len(data))
        safe_files.write(target.file, data, below=below)
        row = {"path": target.path, "bytes": len(data), "sha256": sha256(data)}
        what = f"wrote {len(data):,} bytes to {target.path}, in the run's artifacts; ReadFile reads it at {target.file}"
        return self.said or what, {"path": str(target.file), "artifacts": [row]}

    def _artifact_content(self, below: Path) -> bytes:
        """What an artifact is to hold; an edit that a kill interrupted is not made twice."""
        before = self.current(self.target, below)
        if not self.tool.edits:
            return self._new(before)
        known = self.known()
        if known is not None and before is not None and sha256(before) == known.after:
            return before
        after = self._new(before)
        self.place.changes.save(self._as_change(before, after))
        return after

    def _change(self) -> FileChange:
        """The change that was proposed for this call, or a new one."""
        known = self.known()
        if known is not None and known.path == self.target.path:
            return known
        before = self.current(self.target, self.place.workspace)
        after = self._new(before)
        return self.place.changes.propose(self._as_change(before, after), before, after)

    def _as_change(self, before: bytes | None, after: bytes) -> FileChange:
        path = self.target.path if self.target.in_workspace else f"{ARTIFACTS}{self.target.path}"
        return FileChange(self.key, path, None if before is None else sha256(before), sha256(after), self.digest)

    def _new(self, before: bytes | None) -> bytes:
        data, self.said = self.tool.content(self.arguments, before, self.target)
        if len(data) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"the text has {len(data):,} bytes, the limit is 10 MB — write less")
        return data
