"""Changes of workspace files: proposed with a diff, applied only if the file is unchanged since, and undone.

A run stores them in its folder `changes/`, which no tool can write: one record for each call, by the call's key, and
the contents by their hash. So a resumed run applies exactly the change that a person approved.
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

from goalwright_skills import safe_files, safe_moves
from goalwright_skills.builtin.writing import patch
from goalwright_skills.builtin.writing.file_change import FileChange, ends_of, large_in, linked, read_change, renamed
from goalwright_skills.builtin.writing.kept_aside import KeptAside
from goalwright_skills.builtin.writing.targets import SIZE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.builtin.writing.file_change import Ends
    from goalwright_skills.safe_moves import Content

_ROW_LIMIT = 100_000
_UNSAFE = re.compile(r"[^0-9A-Za-z-]")


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class WorkspaceChanges:
    """The changes of one run; `folder` is the run's folder `changes/`."""

    workspace: Path
    folder: Path

    def find(self, key: str, digest: str) -> FileChange | None:
        """Return the change that was proposed, started or applied for this call."""
        change = self._row(self._file(key))
        if change is None or change.digest != digest or change.state not in ("proposed", "started", "applied"):
            return None
        return change

    def propose(self, change: FileChange, *contents: bytes | None) -> FileChange:
        """Store a change and its contents."""
        for data in contents:
            if data is not None:
                self._write(self._content(sha256(data)), data)
        return self.save(change)

    def apply(self, change: FileChange) -> FileChange:
        """Make the change unless it is already made; raises safe_files.Changed if a file has changed meanwhile."""
        if not self._is_made(change):
            folders = sum(not above.exists() for above in self._parents(change.made))
            change = self.save(replace(change, state="started", folders=change.folders or folders))
            try:
                self._make(change)
            except safe_files.Changed:
                self.save(replace(change, state="conflict"))
                raise
        return self.save(replace(change, state="applied", at=time.time_ns()))

    def _make(self, change: FileChange) -> None:
        if (large := change.large) is not None:
            self._move_large(change, large)
            return
        applied: list[tuple[str, Ends]] = []
        try:
            for path, (before, after) in change.ends.items():
                if self._put(path, before, after, change.mode):
                    applied.append((path, (before, after)))
        except safe_files.Changed:
            for path, (before, after) in reversed(applied):
                self._put(path, after, before, change.mode)
            raise

    def _move_large(self, change: FileChange, large: Content) -> None:
        """Move a large file itself; a deletion moves it aside."""
        if change.to is not None:
            self._aside.move(self.workspace / change.path, self.workspace / change.to, large)
        else:
            self._aside.keep(change.path, large)

    @property
    def _aside(self) -> KeptAside:
        return KeptAside(self.workspace, self.folder / "contents")

    def _put(self, path: str, was: str | None, becomes: str | None, mode: int | None = None) -> bool:
        """Replace a path's content if it is unchanged; returns False if it already has the new content."""
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

    def _holds(self, path: str, digest: str | None, large: Mapping[str | None, Content] | None = None) -> bool:
        """Return whether a path has this content, which may be large; None means no file."""
        if large and digest in large:
            return self._aside.holds(path, large[digest])
        file = self.workspace / path
        if digest is None:
            return safe_moves.size_of(file, below=self.workspace) is None
        now = safe_files.read(file, below=self.workspace, limit=SIZE_LIMIT)
        return now is not None and sha256(now) == digest

    def _is_made(self, change: FileChange) -> bool:
        large = large_in([change])
        return all(self._holds(path, after, large) for path, (_, after) in change.ends.items())

    def mode(self, path: str) -> int:
        """Return the permissions of a file."""
        return stat.S_IMODE((self.workspace / path).lstat().st_mode) & 0o777

    def _parents(self, path: str) -> list[Path]:
        """Return the folders above a file, nearest first, up to the workspace."""
        return [self.workspace / above for above in PurePosixPath(path).parents if above.parts]

    def content(self, digest: str) -> bytes:
        """Return a content by its hash."""
        data = safe_files.read(self._content(digest), below=self.workspace, limit=SIZE_LIMIT)
        if data is None or sha256(data) != digest:
            raise safe_files.Changed(f"{self._content(digest)} is missing or damaged")
        return data

    def every(self) -> list[FileChange]:
        """Return all changes in order of application; an interrupted change counts as applied if the files show it."""
        if not self.folder.is_dir():
            return []
        safe_files.refuse_links(self.folder, below=self.workspace)
        rows = (self._row(file) for file in sorted(self.folder.glob("*.json")))
        changes = [self._settled(row) for row in rows if row is not None]
        return sorted(changes, key=lambda change: change.at)

    def _settled(self, change: FileChange) -> FileChange:
        if change.state != "started":
            return change
        with contextlib.suppress(safe_files.UnsafePath, OSError):
            if self._is_made(change):
                return replace(change, state="applied", at=time.time_ns())
        return replace(change, state="proposed")

    def patch(self, changes: Sequence[FileChange]) -> str:
        """Return the applied changes as one patch."""
        moved, modes = renamed(changes), {change.path: change.mode for change in changes}
        gone = set(moved.values())
        large = large_in(changes)
        parts = [
            patch.rename(moved[path], path) if path in moved else self._diff(path, ends, modes.get(path), large)
            for path, ends in ends_of(changes).items()
            if path not in gone
        ]
        return "".join(parts)

    def _diff(self, path: str, ends: Ends, mode: int | None, large: Mapping[str | None, Content]) -> str:
        if contents := [large[digest] for digest in ends if digest in large]:
            return patch.left_out(path, contents[0].size)
        before, after = (None if digest is None else self.content(digest) for digest in ends)
        return patch.difference(path, before, after, mode)

    def undo(self) -> list[str]:
        """Restore the files that are unchanged since; returns the paths of the others."""
        changes, changed = self.every(), []
        for group in linked(changes):
            try:
                self._undo(group)
            except (safe_files.Changed, safe_files.UnsafePath, FileNotFoundError):
                changed += list(ends_of(group))
        self._remove_folders(changes)
        return sorted(changed)

    def _undo(self, group: Sequence[FileChange]) -> None:
        """Undo changes that share paths, or raise before any file is touched."""
        ends, large = ends_of(group), large_in(group)
        modes = {change.path: change.mode for change in reversed(group) if change.mode is not None}
        self._refuse_changed(ends, large)
        self._clear(ends, large)
        # Restore old files before removing new ones.
        for path, (first, last) in sorted(ends.items(), key=lambda row: row[1][0] is None):
            if self._holds(path, first, large):
                continue
            if first in large:
                self._aside.bring_back(large[first], path)
            else:
                self._put(path, None if last in large else last, first, modes.get(path))
        for change in group:
            self.save(replace(change, state="undone"))

    def _refuse_changed(self, ends: Mapping[str, Ends], large: Mapping[str | None, Content]) -> None:
        """Raise if a path has neither the old nor the new content, or if a large file is missing."""
        for path, row in ends.items():
            # An interruption may leave a path empty, with its large file aside.
            is_interrupted = self._holds(path, None) and any(
                digest in large and self._aside.has(large[digest]) for digest in row
            )
            if not is_interrupted and not any(self._holds(path, digest, large) for digest in row):
                raise safe_files.Changed(f"{self.workspace / path} has changed since")
        for content in (large[first] for first, _ in ends.values() if first in large):
            if not self._aside.has(content) and not any(self._aside.holds(path, content) for path in ends):
                raise safe_files.Changed(f"the large file with the hash {content.sha256} is missing or damaged")

    def _clear(self, ends: Mapping[str, Ends], large: Mapping[str | None, Content]) -> None:
        """Clear the paths of large files, which are moved and cannot overwrite a file."""
        for path, (first, last) in ends.items():
            if first == last or not self._holds(path, last, large):
                continue
            if last in large:
                self._aside.keep(path, large[last])
            elif first in large and last is not None:
                safe_files.remove_if(self.workspace / path, self.content(last), below=self.workspace)

    def _remove_folders(self, changes: Sequence[FileChange]) -> None:
        """Remove the folders that were created for files, if they are empty."""
        folders_made = {above for change in changes for above in self._parents(change.made)[: change.folders]}
        for folder in sorted(folders_made, key=lambda above: len(above.parts), reverse=True):
            with contextlib.suppress(OSError, safe_files.UnsafePath):
                safe_files.refuse_links(folder, below=self.workspace)
                folder.rmdir()

    def save(self, change: FileChange) -> FileChange:
        """Store the current state of a change."""
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
