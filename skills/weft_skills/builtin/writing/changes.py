"""Changes of the workspace: proposed with a diff, applied only to the file that the diff was made from, undone.

A run keeps them in its folder `changes/`, which no tool can write: a row for each call, by the call's key, and the
contents by their hash. So a resumed run applies exactly what a person saw.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, get_args

from weft_skills import safe_files
from weft_skills.builtin.writing import patch
from weft_skills.builtin.writing.targets import PREFIX, SIZE_LIMIT, target_of
from weft_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ChangeState = Literal["proposed", "applied", "conflict", "undone"]
_ARTIFACTS = "artifacts:"
_ROW_LIMIT = 100_000
_HASH = re.compile(r"[0-9a-f]{64}")
_UNSAFE = re.compile(r"[^0-9A-Za-z-]")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change of a file, by a call: the hashes of its content before (None: no file) and after.

    `digest` is of the arguments it was made for, `at` when it was applied, in nanoseconds.
    """

    key: str
    path: str
    before: str | None
    after: str
    digest: str = ""
    state: ChangeState = "proposed"
    at: int = 0
    folders: int = 0  # how many folders above the file had to be made for it


def sha256(data: bytes) -> str:
    """The hash of a content."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class WorkspaceChanges:
    """The changes of one run; `folder` is its own, below the workspace."""

    workspace: Path
    folder: Path

    def find(self, key: str, digest: str) -> FileChange | None:
        """What was proposed, or applied, for this very call."""
        found = self._row(self._file(key))
        held = found is not None and found.digest == digest and found.state in ("proposed", "applied")
        return found if held else None

    def propose(self, change: FileChange, before: bytes | None, after: bytes) -> FileChange:
        """Keep a change and both contents."""
        for data in (before, after):
            if data is not None:
                self._write(self._content(sha256(data)), data)
        return self.save(change)

    def apply(self, change: FileChange) -> FileChange:
        """Make the change, unless it is made already; raises safe_files.Changed if the file is another one by now."""
        file, after = self.workspace / change.path, self.content(change.after)
        now = safe_files.read(file, below=self.workspace, limit=SIZE_LIMIT)
        folders = change.folders or sum(not above.exists() for above in self._above(change.path))
        if now != after:
            was = None if change.before is None else self.content(change.before)
            try:
                safe_files.replace_if(file, after, was, below=self.workspace, drafts=self.folder)
            except safe_files.Changed:
                self.save(replace(change, state="conflict"))
                raise
        return self.save(replace(change, state="applied", at=time.time_ns(), folders=folders))

    def _above(self, path: str) -> list[Path]:
        """The folders above a file, nearest first, up to the workspace."""
        return [self.workspace / above for above in PurePosixPath(path).parents if above.parts]

    def content(self, digest: str) -> bytes:
        """A content by its hash."""
        data = safe_files.read(self._content(digest), below=self.workspace, limit=SIZE_LIMIT)
        if data is None or sha256(data) != digest:
            raise safe_files.Changed(f"{self._content(digest)} is missing or damaged")
        return data

    def every(self) -> list[FileChange]:
        """All changes, in the order in which they were applied; one that a kill left open counts if it is made."""
        if not self.folder.is_dir():
            return []
        safe_files.refuse_links(self.folder, below=self.workspace)
        rows = (self._row(file) for file in sorted(self.folder.glob("*.json")))
        found = [self._settled(row) for row in rows if row is not None]
        return sorted(found, key=lambda change: change.at)

    def patch(self, changes: Iterable[FileChange]) -> str:
        """What the applied changes make of the workspace, as one patch."""
        return "".join(self._diff(path, first, last) for path, (first, last) in _ends(changes).items())

    def undo(self) -> list[str]:
        """Put the files back that are unchanged since; returns the paths of those that are not."""
        changes, changed = self.every(), []
        for path, (first, last) in _ends(changes).items():
            if last is None:
                continue
            file, now = self.workspace / path, self.content(last)
            try:
                if first is None:
                    safe_files.remove_if(file, now, below=self.workspace)
                else:
                    safe_files.replace_if(file, self.content(first), now, below=self.workspace, drafts=self.folder)
            except (safe_files.Changed, safe_files.UnsafePath, FileNotFoundError):
                changed.append(path)
                continue
            for change in changes:
                if change.path == path and change.state == "applied":
                    self.save(replace(change, state="undone"))
        self._remove_folders(changes)
        return changed

    def _remove_folders(self, changes: Iterable[FileChange]) -> None:
        """Remove the folders that were made for files, if nothing is left in them."""
        made = {above for change in changes for above in self._above(change.path)[: change.folders]}
        for folder in sorted(made, key=lambda above: len(above.parts), reverse=True):
            with contextlib.suppress(OSError, safe_files.UnsafePath):
                safe_files.refuse_links(folder, below=self.workspace)
                folder.rmdir()

    def _settled(self, change: FileChange) -> FileChange:
        if change.state != "proposed" or change.before == change.after:
            return change
        try:
            now = safe_files.read(self.workspace / change.path, below=self.workspace, limit=SIZE_LIMIT)
        except (safe_files.UnsafePath, OSError):
            return change
        is_made = now is not None and sha256(now) == change.after
        return replace(change, state="applied", at=time.time_ns()) if is_made else change

    def _diff(self, path: str, first: str | None, last: str | None) -> str:
        before, after = (None if digest is None else self.content(digest) for digest in (first, last))
        try:
            texts = [None if data is None else data.decode() for data in (before, after)]
        except UnicodeDecodeError:
            return patch.binary(path, before, after)
        return patch.diff(path, *texts)

    def save(self, change: FileChange) -> FileChange:
        """Keep what is known of a change."""
        self._write(self._file(change.key), json.dumps(asdict(change)).encode())
        return change

    def _row(self, file: Path) -> FileChange | None:
        """A change as it was kept; None if it is not one that weft could have kept, since a checkout may bring some."""
        data = safe_files.read(file, below=self.workspace, limit=_ROW_LIMIT)
        try:
            row = FileChange(**json.loads(data or b"null"))
            path = row.path if row.path.startswith(_ARTIFACTS) else f"{PREFIX}{row.path}"
            target_of(path, self.workspace, self.folder)  # refuses what no tool may write
            hashes = [digest for digest in (row.before, row.after) if digest is not None]
            held = row.after is not None and all(map(_HASH.fullmatch, hashes)) and isinstance(row.at, int)
        except (ValueError, TypeError, AttributeError, RecursionError, ToolFault):
            return None
        return row if held and row.state in get_args(ChangeState) else None

    def _write(self, file: Path, data: bytes) -> None:
        safe_files.write(file, data, below=self.workspace)

    def _file(self, key: str) -> Path:
        return self.folder / f"{_UNSAFE.sub('-', key)}.json"

    def _content(self, digest: str) -> Path:
        return self.folder / "contents" / digest


def _ends(changes: Iterable[FileChange]) -> dict[str, tuple[str | None, str | None]]:
    """For each path, its content before the first applied change and after the last one."""
    found: dict[str, tuple[str | None, str | None]] = {}
    for change in changes:
        if change.state == "applied":
            found[change.path] = (found[change.path][0] if change.path in found else change.before, change.after)
    return dict(sorted(found.items()))
