"""`WriteFile` and `EditFile`: write a text file, or replace a passage in it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from goalwright_skills import safe_files
from goalwright_skills.builtin.readable_roots import ReadableRoots
from goalwright_skills.builtin.writing import patch
from goalwright_skills.builtin.writing.changes import sha256
from goalwright_skills.builtin.writing.changing_tool import (
    ChangesFiles,
    ChangingTool,
    FileCall,
    displayed,
    refuse_unknown,
)
from goalwright_skills.builtin.writing.file_change import ARTIFACTS, FileChange
from goalwright_skills.builtin.writing.targets import PREFIX, SIZE_LIMIT, Target, target_of
from goalwright_skills.tools.effects import call_text
from goalwright_skills.tools.parameter import string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.builtin.writing.targets import Target
    from goalwright_skills.builtin.writing.write_place import WritePlace


WHERE = (
    f"A relative path is written to the run's artifacts, which the user gets with the answer. `{PREFIX}PATH` changes a "
    "file of the workspace if the user allows it; they may be asked first."
)


class WriteFile(ChangingTool):
    """Writes a whole text file."""

    name = "WriteFile"
    description = f"Write a complete text file; an existing file is replaced. {WHERE}"
    edits = False
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path",
        "content",
        path=string_parameter(f"The file, such as report.md or {PREFIX}src/app.py."),
        content=string_parameter("The complete text, 10 MB at most."),
    )

    def file_call(self, arguments: dict[str, Any], place: WritePlace) -> FileWrite:
        """Return one call of the tool."""
        return FileWrite(self, place, arguments)

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """Return the file that a call writes."""
        return target_of(arguments.get("path"), place.workspace, place.artifacts)

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """Return the new content of the file and a text for the envelope; an empty text means the default."""
        old = None
        if before is not None and (target.in_workspace or self.edits):
            try:
                old = before.decode()
            except UnicodeDecodeError as error:
                problem = f"{target.name} is not a text file in UTF-8 — write another file"
                raise ToolFault("BINARY_FILE", problem) from error
        return self.new_text(arguments, old, target).encode(), ""

    def elsewhere(self, _place: WritePlace) -> str:
        """Return what to do if the workspace may not be changed."""
        return "write a relative path: it goes to the run's artifacts"

    def new_text(self, arguments: Mapping[str, Any], _old: str | None, _target: Target) -> str:
        """Return the new text of the file."""
        content = arguments.get("content")
        if not isinstance(content, str):
            raise ToolFault("INVALID_PARAM", f"content must be a text, not {content!r:.80} — give the complete text")
        return content


class EditFile(WriteFile):
    """Replaces a passage of a text file."""

    name = "EditFile"
    description = (
        "Change a text file: replace the passage `old`, which must occur exactly once, by `new`; with `all`, replace "
        f"every occurrence. Read the file first. {WHERE}"
    )
    edits = True
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path",
        "old",
        "new",
        path=string_parameter(f"The file, such as report.md or {PREFIX}src/app.py."),
        old=string_parameter("The exact passage in the file, with its line breaks."),
        new=string_parameter("The replacement."),
        all={"type": "boolean", "description": "Whether to replace every occurrence; by default false."},
    )

    def new_text(self, arguments: Mapping[str, Any], old: str | None, target: Target) -> str:
        """Return the file's text with the passage replaced."""
        if old is None:
            raise ToolFault("NOT_FOUND", self._in_workspace(target) or _nowhere(target))
        passage, new, every = arguments.get("old"), arguments.get("new"), arguments.get("all") or False
        if not isinstance(passage, str) or not isinstance(new, str) or not passage or not isinstance(every, bool):
            raise ToolFault(
                "INVALID_PARAM", "old and new must be text, old must not be empty, and all must be true or false"
            )
        if passage not in old and "\r\n" in old:
            passage, new = (text.replace("\r\n", "\n").replace("\n", "\r\n") for text in (passage, new))
        count = old.count(passage)
        if count == 0 or (count > 1 and not every):
            hint = "read the file and copy the exact passage" if count == 0 else "give a longer passage, or all: true"
            raise ToolFault("CONFLICT", f"old occurs {count} times in {target.name}, not once — {hint}")
        return old.replace(passage, new)

    def _in_workspace(self, target: Target) -> str:
        """Return what to do if a file is only in the workspace; empty if it is not readable there."""
        place = self._place
        if place is None or target.in_workspace or not _is_readable(target.path, ReadableRoots(place.workspace)):
            return ""
        if place.writes != "deny":
            return f"{target.name} is not in the run's artifacts but in the workspace — edit {PREFIX}{target.path}"
        problem = f"{target.name} is a file of the workspace, which this run may not change (workspace_writes)"
        return f"{problem} — read it with ReadFile, and write the changed text to {target.name} with WriteFile"


def _nowhere(target: Target) -> str:
    return f"{target.name} does not exist — write it with WriteFile"


def _is_readable(path: str, roots: ReadableRoots) -> bool:
    """Return whether ReadFile can read a file at a path of the workspace."""
    try:
        descriptor = roots.open(roots.resolve(f"{PREFIX}{path}"))
    except ToolFault:
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


class WritingTool(ChangesFiles, Protocol):
    """A tool that writes files."""

    @property
    def edits(self) -> bool:
        """Whether the new content depends on the old."""

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """Return the file that a call writes."""

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """Return the new content of the file and a text for the envelope; an empty text means the default."""


class FileWrite(FileCall):
    """One call that writes a file."""

    def __init__(self, tool: WritingTool, place: WritePlace, arguments: dict[str, Any]) -> None:
        refuse_unknown(arguments, tool.parameters)
        super().__init__(tool, place, arguments, tool.target(arguments, place))
        self.tool, self.message = tool, ""

    def check_content(self) -> None:
        """Raise if the run's disk space is exhausted, or if the file cannot be changed."""
        if not self.target.in_workspace:
            self._refuse_without_room(0)
        elif self.proposed() is None:
            self._new(self.current(self.target, self.place.workspace))

    def _refuse_without_room(self, size: int) -> None:
        """Raise if this file would exceed the limits on the run's files."""
        if full := self.place.disk.exceeded_with(self.target.file, size, self.place.artifacts):
            problem = f"{self.target.name} was not written, because the run's files would have {full}"
            raise ToolFault("EXECUTION_ERROR", f"{problem} — write less, or go on without it")

    def diff(self) -> str:
        """Return the diff of the proposed change, which is stored until the call is made."""
        if not self.target.in_workspace:
            return call_text(self.tool.name, self.arguments)
        change, changes = self._change(), self.place.changes
        old, new = (
            None if digest is None else changes.content(digest).decode("utf-8", "replace")
            for digest in (change.before, change.after)
        )
        return displayed(patch.diff(change.path, old, new)) or f"{change.path} has this content already"

    def change(self) -> tuple[str, dict[str, Any]]:
        """Write the file."""
        return self._change_workspace() if self.target.in_workspace else self._write_artifact()

    def _change_workspace(self) -> tuple[str, dict[str, Any]]:
        change = self.place.changes.apply(self._change())
        row = {"path": change.path, "sha256": change.after, "before": change.before}
        text = self.message or f"changed {change.path} in the workspace"
        return text, {"path": str(self.target.file), "changes": [row]}

    def _write_artifact(self) -> tuple[str, dict[str, Any]]:
        target, workspace = self.target, self.place.workspace
        below = safe_files.anchor(target.root, workspace)
        data = self._artifact_content(below)
        self._refuse_without_room(len(data))
        safe_files.write(target.file, data, below=below)
        row = {"path": target.path, "bytes": len(data), "sha256": sha256(data)}
        problem = (
            f"wrote {len(data):,} bytes to {target.path}, in the run's artifacts; ReadFile can read it at {target.file}"
        )
        return self.message or problem, {"path": str(target.file), "artifacts": [row]}

    def _artifact_content(self, below: Path) -> bytes:
        """Return the new content of an artifact; an interrupted edit is not made twice."""
        before = self.current(self.target, below)
        if not self.tool.edits:
            return self._new(before)
        proposed = self.proposed()
        if proposed is not None and before is not None and sha256(before) == proposed.after:
            return before
        after = self._new(before)
        self.place.changes.save(self._as_change(before, after))
        return after

    def _change(self) -> FileChange:
        """Return the change that was proposed for this call, or a new one."""
        proposed = self.proposed()
        if proposed is not None and proposed.path == self.target.path:
            return proposed
        before = self.current(self.target, self.place.workspace)
        after = self._new(before)
        return self.place.changes.propose(self._as_change(before, after), before, after)

    def _as_change(self, before: bytes | None, after: bytes) -> FileChange:
        path = self.target.path if self.target.in_workspace else f"{ARTIFACTS}{self.target.path}"
        return FileChange(self.key, path, None if before is None else sha256(before), sha256(after), self.digest)

    def _new(self, before: bytes | None) -> bytes:
        data, self.message = self.tool.content(self.arguments, before, self.target)
        if len(data) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"the text has {len(data):,} bytes, the limit is 10 MB — write less")
        return data
