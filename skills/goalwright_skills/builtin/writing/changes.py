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
        if (large := change.large) is not None:
            self._take(change, large)
            return
        done: list[tuple[str, Ends]] = []
        try:
            for path, (before, after) in change.ends.items():
                if self._put(path, before, after, change.mode):
                    done.append((path, (before, after)))
        except safe_files.Changed:
            for path, (before, after) in reversed(done):
                self._put(path, after, before, change.mode)
            raise

    def _take(self, change: FileChange, large: Content) -> None:
        """Move a large file itself, or keep it aside where it was to be deleted."""
        if change.to is not None:
            self._aside.move(self.workspace / change.path, self.workspace / change.to, large)
        else:
            self._aside.keep(change.path, large)

    @property
    def _aside(self) -> KeptAside:
        return KeptAside(self.workspace, self.folder / "contents")

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

    def _holds(self, path: str, digest: str | None, large: Mapping[str | None, Content] | None = None) -> bool:
        """Whether a path has this content now, which may be a large one; None stands for no file."""
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
        large = large_in(changes)
        parts = [
            patch.rename(moved[path], path) if path in moved else self._diff(path, ends, modes.get(path), large)
            for path, ends in ends_of(changes).items()
            if path not in gone
        ]
        return "".join(parts)

    def _diff(self, path: str, ends: Ends, mode: int | None, large: Mapping[str | None, Content]) -> str:
        if found := [large[digest] for digest in ends if digest in large]:
            return patch.left_out(path, found[0].size)
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
        ends, large = ends_of(group), large_in(group)
        modes = {change.path: change.mode for change in reversed(group) if change.mode is not None}
        self._refuse_changed(ends, large)
        self._clear(ends, large)
        # What comes back is there before what came goes away.
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
        """Raise if a path has neither content, or if a large one is nowhere any more."""
        for path, row in ends.items():
            # A kill may have left a path empty, with its large file aside.
            between = self._holds(path, None) and any(
                digest in large and self._aside.has(large[digest]) for digest in row
            )
            if not between and not any(self._holds(path, digest, large) for digest in row):
                raise safe_files.Changed(f"{self.workspace / path} has changed since")
        for content in (large[first] for first, _ in ends.values() if first in large):
            if not self._aside.has(content) and not any(self._aside.holds(path, content) for path in ends):
                raise safe_files.Changed(f"the file that {content.sha256} was of is missing or damaged")

    def _clear(self, ends: Mapping[str, Ends], large: Mapping[str | None, Content]) -> None:
        """Take what is there away from the paths of large files, which are moved and not overwritten."""
        for path, (first, last) in ends.items():
            if first == last or not self._holds(path, last, large):
                continue
            if last in large:
                self._aside.keep(path, large[last])
            elif first in large and last is not None:
                safe_files.remove_if(self.workspace / path, self.content(last), below=self.workspace)

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
