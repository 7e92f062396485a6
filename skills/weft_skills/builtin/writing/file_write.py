"""One call that writes a file: where it writes, what stands there, and what will."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Protocol

from weft_skills import safe_files
from weft_skills.builtin.writing import patch
from weft_skills.builtin.writing.changes import FileChange, sha256
from weft_skills.builtin.writing.targets import SIZE_LIMIT, Target
from weft_skills.text.control import spelled_out
from weft_skills.tools.current_call import current_call
from weft_skills.tools.effects import call_text
from weft_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weft_skills.builtin.writing.write_place import WritePlace

_SHOWN = 20_000


class WritingTool(Protocol):
    """A tool that writes files."""

    @property
    def name(self) -> str:
        """The name by which it is called."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters as a JSON schema of type object."""

    @property
    def edits(self) -> bool:
        """Whether what it writes depends on what is there."""

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """The file that a call writes."""

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """What the file is to hold, by what it holds, and what to say of it; empty for the usual words."""

    def elsewhere(self, place: WritePlace) -> str:
        """What to write where the workspace may not be written."""


class FileWrite:
    """One call: where it writes, what stands there, and what will."""

    def __init__(self, tool: WritingTool, place: WritePlace, arguments: dict[str, Any]) -> None:
        self.tool, self.place, self.arguments, self.said = tool, place, arguments, ""
        if unknown := arguments.keys() - tool.parameters["properties"].keys():
            known = ", ".join(tool.parameters["properties"])
            raise ToolFault("INVALID_PARAM", f"unknown parameter: {min(unknown)} — the parameters are: {known}")
        self.target = tool.target(arguments, place)
        self.digest = sha256(json.dumps([tool.name, arguments], sort_keys=True, default=str).encode())
        self.key = current_call() or hashlib.sha256(f"{place.task}\0{self.digest}".encode()).hexdigest()[:32]
        if self.target.in_workspace and place.writes == "deny":
            what = "writing into the workspace is not allowed in this run, which takes --write"
            raise ToolFault("ACCESS_DENIED", f"{what} — {tool.elsewhere(place)}")
        if self.target.file.is_dir():
            raise ToolFault("IS_DIRECTORY", f"{self.target.name} is a folder — name a file in it")

    def check(self) -> None:
        """Raise what would keep it from being written, before anybody is asked."""
        self.check_place()
        if not self.target.in_workspace:
            self._refuse_without_room(0)
        elif self.place.changes.find(self.key, self.digest) is None:
            self._new(self._current(self.place.workspace))

    def check_place(self) -> None:
        """Raise if another task wrote the file, or if no file can be written there."""
        self._refuse_rival()
        root = self.place.workspace if self.target.in_workspace else self.target.root
        for above in self.target.file.parents:
            if above.is_dir():
                if not os.access(above, os.W_OK | os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))
                break
            if os.path.lexists(above):
                raise ToolFault("INVALID_PARAM", f"{above} is not a folder — write another path")
            if above == root:
                break

    def _refuse_rival(self) -> None:
        place, target = self.place, self.target
        rival = place.claims.rival(target.name, place.task, place.before)
        if rival is not None:
            what = f"{target.name} was written by task {rival!r}, which runs beside this one"
            raise ToolFault("CONFLICT", f"{what} — write another path")

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
        before = None if change.before is None else changes.content(change.before).decode("utf-8", "replace")
        text = patch.diff(change.path, before, changes.content(change.after).decode("utf-8", "replace"))
        shown = spelled_out(text) or f"{change.path} has this content already"
        return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}\n[… {len(shown):,} characters in all]"

    def make(self) -> tuple[str, dict[str, Any]]:
        """Write it, unless another task that is not in order with this one wrote it."""
        place, target = self.place, self.target
        with place.claims.lock:
            self._refuse_rival()
            done = self._change_workspace() if target.in_workspace else self._write_artifact()
            place.claims.take(target.name, place.task)
        return done

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
        before = self._current(below)
        if not self.tool.edits:
            return self._new(before)
        changes = self.place.changes
        known = changes.find(self.key, self.digest)
        if known is not None and before is not None and sha256(before) == known.after:
            return before
        after = self._new(before)
        changes.save(self._as_change(before, after))
        return after

    def _change(self) -> FileChange:
        """The change that was proposed for this call, or a new one."""
        changes = self.place.changes
        known = changes.find(self.key, self.digest)
        if known is not None and known.path == self.target.path:
            return known
        before = self._current(self.place.workspace)
        after = self._new(before)
        return changes.propose(self._as_change(before, after), before, after)

    def _as_change(self, before: bytes | None, after: bytes) -> FileChange:
        path = self.target.path if self.target.in_workspace else f"artifacts:{self.target.path}"
        return FileChange(self.key, path, None if before is None else sha256(before), sha256(after), self.digest)

    def _current(self, below: Path) -> bytes | None:
        found = safe_files.read(self.target.file, below=below, limit=SIZE_LIMIT)
        if found is not None and len(found) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"{self.target.name} has more than 10 MB — write another file")
        return found

    def _new(self, before: bytes | None) -> bytes:
        data, self.said = self.tool.content(self.arguments, before, self.target)
        if len(data) > SIZE_LIMIT:
            raise ToolFault("INVALID_PARAM", f"the text has {len(data):,} bytes, the limit is 10 MB — write less")
        return data
