"""Changes of the workspace: proposed with a diff, applied only to the file that the diff was made from, undone.

A run keeps them in its folder `changes/`, which no tool can write: a row for each call, by the call's key, and the
contents by their hash. So a resumed run applies exactly what a person saw.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import stat
import time
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from weft_skills import safe_files
from weft_skills.builtin.writing import patch
from weft_skills.builtin.writing.file_change import FileChange, ends_of, linked, read_change, renamed
from weft_skills.builtin.writing.targets import SIZE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft_skills.builtin.writing.file_change import Ends

_ROW_LIMIT = 100_000
_UNSAFE = re.compile(r"[^0-9A-Za-z-]")


def sha256(data: bytes) -> str:
    """The hash of a content."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class WorkspaceChanges:
    """The changes of one run; `folder` is its own, below the workspace."""

    workspace: Path
    folder: Path

    def find(self, key: str, digest: str) -> FileChange | None:
        """What was proposed, begun or applied for this very call."""
        found = self._row(self._file(key))
        held = found is not None and found.digest == digest and found.state in ("proposed", "started", "applied")
        return found if held else None

    def propose(self, change: FileChange, *contents: bytes | None) -> FileChange:
        """Keep a change and its contents."""
        for data in contents:
            if data is not None:
                self._write(self._content(sha256(data)), data)
        return self.save(change)

    def apply(self, change: FileChange) -> FileChange:
        """Make the change, unless it is made already; raises safe_files.Changed if a file is another one by now."""
        if not self._is_made(change):
            folders = sum(not above.exists() for above in self._above(change.made))
            change = self.save(replace(change, state="started", folders=change.folders or folders))
            try:
                self._make(change)
            except safe_files.Changed:
                self.save(replace(change, state="conflict"))
                raise
        return self.save(replace(change, state="applied", at=time.time_ns()))

    def _make(self, change: FileChange) -> None:
        done: list[tuple[str, Ends]] = []
        try:
            for path, (before, after) in change.ends.items():
                if self._put(path, before, after, change.mode):
                    done.append((path, (before, after)))
        except safe_files.Changed:
            for path, (before, after) in reversed(done):
                self._put(path, after, before, change.mode)
            raise

    def _put(self, path: str, was: str | None, becomes: str | None, mode: int | None = None) -> bool:
        """Give a path another content if it still has the one that it had; False if it has the other already."""
        file = self.workspace / path
        if self._holds(path, becomes):
            return False
        before = None if was is None else self.content(was)
        if becomes is not None:
            after = self.content(becomes)
            safe_files.replace_if(file, after, before, below=self.workspace, drafts=self.folder, mode=mode)
        elif before is not None:
            safe_files.remove_if(file, before, below=self.workspace)
        else:
            raise safe_files.Changed(f"{file} has been created meanwhile")
        return True

    def _holds(self, path: str, digest: str | None) -> bool:
        """Whether a path has this content now; None stands for no file."""
        now = safe_files.read(self.workspace / path, below=self.workspace, limit=SIZE_LIMIT)
        return (None if now is None else sha256(now)) == digest

    def _is_made(self, change: FileChange) -> bool:
        return all(self._holds(path, after) for path, (_, after) in change.ends.items())

    def mode(self, path: str) -> int:
        """The permissions of a file."""
        return stat.S_IMODE((self.workspace / path).lstat().st_mode) & 0o777

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

    def _settled(self, change: FileChange) -> FileChange:
        if change.state != "started":
            return change
        with contextlib.suppress(safe_files.UnsafePath, OSError):
            if self._is_made(change):
                return replace(change, state="applied", at=time.time_ns())
        return replace(change, state="proposed")

    def patch(self, changes: Sequence[FileChange]) -> str:
        """What the applied changes make of the workspace, as one patch."""
        moved, modes = renamed(changes), {change.path: change.mode for change in changes}
        gone = set(moved.values())
        parts = [
            patch.rename(moved[path], path) if path in moved else self._diff(path, ends, modes.get(path))
            for path, ends in ends_of(changes).items()
            if path not in gone
        ]
        return "".join(parts)

    def _diff(self, path: str, ends: Ends, mode: int | None) -> str:
        before, after = (None if digest is None else self.content(digest) for digest in ends)
        return patch.difference(path, before, after, mode)

    def undo(self) -> list[str]:
        """Put the files back that are unchanged since; returns the paths of those that are not."""
        changes, changed = self.every(), []
        for group in linked(changes):
            try:
                self._undo(group)
            except (safe_files.Changed, safe_files.UnsafePath, FileNotFoundError):
                changed += list(ends_of(group))
        self._remove_folders(changes)
        return sorted(changed)

    def _undo(self, group: Sequence[FileChange]) -> None:
        """Undo changes that hang together, or raise before anything is touched."""
        ends = ends_of(group)
        modes = {change.path: change.mode for change in reversed(group) if change.mode is not None}
        for path, (first, last) in ends.items():
            if not self._holds(path, last) and not self._holds(path, first):
                raise safe_files.Changed(f"{self.workspace / path} has changed since")
        # What comes back is there before what came goes away.
        for path, (first, last) in sorted(ends.items(), key=lambda row: row[1][0] is None):
            self._put(path, last, first, modes.get(path))
        for change in group:
            self.save(replace(change, state="undone"))

    def _remove_folders(self, changes: Sequence[FileChange]) -> None:
        """Remove the folders that were made for files, if nothing is left in them."""
        made = {above for change in changes for above in self._above(change.made)[: change.folders]}
        for folder in sorted(made, key=lambda above: len(above.parts), reverse=True):
            with contextlib.suppress(OSError, safe_files.UnsafePath):
                safe_files.refuse_links(folder, below=self.workspace)
                folder.rmdir()

    def save(self, change: FileChange) -> FileChange:
        """Keep what is known of a change."""
        self._write(self._file(change.key), json.dumps(asdict(change)).encode())
        return change

    def _row(self, file: Path) -> FileChange | None:
        data = safe_files.read(file, below=self.workspace, limit=_ROW_LIMIT)
        return read_change(data, self.workspace, self.folder)

    def _write(self, file: Path, data: bytes) -> None:
        safe_files.write(file, data, below=self.workspace)

    def _file(self, key: str) -> Path:
        return self.folder / f"{_UNSAFE.sub('-', key)}.json"

    def _content(self, digest: str) -> Path:
        return self.folder / "contents" / digest
