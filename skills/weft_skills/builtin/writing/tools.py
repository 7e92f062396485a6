"""The tools with which a model writes files: `WriteFile` and `EditFile`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from weft_skills import safe_files
from weft_skills.builtin.writing import patch
from weft_skills.builtin.writing.changes import FileChange, WorkspaceChanges, sha256
from weft_skills.builtin.writing.claims import Before, Claims
from weft_skills.builtin.writing.targets import PREFIX, SIZE_LIMIT, Target, target_of
from weft_skills.text.control import spelled_out
from weft_skills.text.surrogates import join_surrogates
from weft_skills.tools.current_call import current_call
from weft_skills.tools.effects import READ_ONLY, Effects, call_text
from weft_skills.tools.envelope import Context, Envelope, failure
from weft_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weft_skills.builtin.toolset import WorkspaceWrites

_SHOWN = 20_000
_WHERE = (
    f"A relative path goes to the run's artifacts, which the user gets with the answer. `{PREFIX}PATH` changes a file "
    "of the workspace, if the user allows it; they may be asked first."
)


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WritePlace:
    """Where a task writes: its run's folders, what other tasks wrote, and which tasks come before it."""

    workspace: Path
    artifacts: Path
    writes: WorkspaceWrites = "deny"
    task: str = ""
    before: Before = _never
    claims: Claims = field(default_factory=Claims)

    @property
    def changes(self) -> WorkspaceChanges:
        """The changes that the run makes in the workspace."""
        return WorkspaceChanges(self.workspace, self.artifacts.parent / "changes")


class WriteFile:
    """Writes a whole text file."""

    name = "WriteFile"
    description = f"Write a text file, whole; a file that exists is replaced. {_WHERE}"
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": f"The file, such as report.md or {PREFIX}src/app.py."},
            "content": {"type": "string", "description": "Its whole text, 10 MB at most."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }

    def __init__(self, place: WritePlace | None) -> None:
        self._place = place

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """What it writes, if it can: repeated, it finds the file as it wrote it."""
        try:
            writing = self._call(arguments)
            writing.check()
        except (ToolFault, safe_files.UnsafePath, OSError):
            return READ_ONLY  # nothing will be written, so nobody needs to be asked
        return Effects("workspace" if writing.target.in_workspace else "artifacts", idempotent=True)

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """The difference that it makes."""
        try:
            return self._call(arguments).diff()
        except (ToolFault, safe_files.UnsafePath, safe_files.Changed, OSError) as error:
            return f"{self.name} {arguments.get('path')}: {error}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Write it; every error says why it failed and what to do next."""
        return await asyncio.to_thread(self._answer, arguments)

    def target(self, arguments: Mapping[str, Any], place: WritePlace) -> Target:
        """The file that a call writes."""
        return target_of(arguments.get("path"), place.workspace, place.artifacts)

    def content(self, arguments: Mapping[str, Any], before: bytes | None, target: Target) -> tuple[bytes, str]:
        """What the file is to hold, by what it holds, and what to say of it; empty for the usual words."""
        old = None
        if before is not None and (target.in_workspace or isinstance(self, EditFile)):
            try:
                old = before.decode()
            except UnicodeDecodeError as error:
                what = f"{target.name} is not a text file in UTF-8 — write another file"
                raise ToolFault("BINARY_FILE", what) from error
        return self.new_text(arguments, old, target).encode(), ""

    def elsewhere(self, _place: WritePlace) -> str:
        """What to write where the workspace may not be written."""
        return "write a relative path: it goes to the run's artifacts"

    def new_text(self, arguments: Mapping[str, Any], _old: str | None, _target: Target) -> str:
        """What a text file is to hold."""
        content = arguments.get("content")
        if not isinstance(content, str):
            raise ToolFault("INVALID_PARAM", f"content must be a text, not {content!r:.80} — give the whole text")
        return content

    def _call(self, arguments: Mapping[str, Any]) -> _Writing:
        assert self._place is not None  # noqa: S101 - only a planner sees a tool without a place
        return _Writing(self, self._place, join_surrogates(dict(arguments)))

    def _answer(self, arguments: Mapping[str, Any]) -> Envelope:
        start, place = time.monotonic(), self._place
        context = Context(str(place.workspace) if place else "", dict(arguments))
        try:
            writing = self._call(arguments)
            context = Context(context.cwd, context.params_input, str(writing.target.file))
            text, data = writing.make()
        except ToolFault as fault:
            return failure(fault.code, fault.message, context, time_ms=_since(start))
        except safe_files.Changed as error:
            what = f"{error.message}, and is left as it is — read it again, then write again"
            return failure("CONFLICT", what, context, time_ms=_since(start))
        except safe_files.UnsafePath as error:
            return failure("ACCESS_DENIED", f"{error.message} — write another path", context, time_ms=_since(start))
        except PermissionError as error:
            what = f"the operating system denies it: {error} — write another path"
            return failure("PERMISSION_DENIED", what, context, time_ms=_since(start))
        except OSError as error:
            what = f"it cannot be written: {error.strerror or error} — write another path"
            return failure("EXECUTION_ERROR", what, context, time_ms=_since(start))
        return Envelope("success", text, context, data, time_ms=_since(start))


class EditFile(WriteFile):
    """Replaces a passage of a text file."""

    name = "EditFile"
    description = (
        "Change a text file: replace the passage `old`, which must stand in it exactly once, by `new`; with `all`, "
        f"replace it wherever it stands. Read the file first. {_WHERE}"
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": f"The file, such as report.md or {PREFIX}src/app.py."},
            "old": {"type": "string", "description": "The passage as it stands in the file, with its line breaks."},
            "new": {"type": "string", "description": "What takes its place."},
            "all": {"type": "boolean", "description": "Whether to replace every occurrence; by default false."},
        },
        "required": ["path", "old", "new"],
        "additionalProperties": False,
    }

    def new_text(self, arguments: Mapping[str, Any], old: str | None, target: Target) -> str:
        """The file's text with the passage replaced."""
        if old is None:
            raise ToolFault("NOT_FOUND", f"{target.name} does not exist — write it with WriteFile")
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


class _Writing:
    """One call: where it writes, what stands there, and what will."""

    def __init__(self, tool: WriteFile, place: WritePlace, arguments: dict[str, Any]) -> None:
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
        """Raise what would keep a change of the workspace from being made, before anybody is asked."""
        if self.target.in_workspace and self.place.changes.find(self.key, self.digest) is None:
            self._new(self._current(self.place.workspace))

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
            rival = place.claims.rival(target.name, place.task, place.before)
            if rival is not None:
                what = f"{target.name} was written by task {rival!r}, which runs beside this one"
                raise ToolFault("CONFLICT", f"{what} — write another path")
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
        safe_files.write(target.file, data, below=below)
        row = {"path": target.path, "bytes": len(data), "sha256": sha256(data)}
        what = f"wrote {len(data):,} bytes to {target.path}, in the run's artifacts; ReadFile reads it at {target.file}"
        return self.said or what, {"path": str(target.file), "artifacts": [row]}

    def _artifact_content(self, below: Path) -> bytes:
        """What an artifact is to hold; an edit that a kill interrupted is not made twice."""
        before = self._current(below)
        if type(self.tool) is WriteFile:
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


def _since(start: float) -> int:
    return round((time.monotonic() - start) * 1000)
