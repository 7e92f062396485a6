"""The record of one change of workspace files, and the combined effect of several changes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from goalwright_skills.builtin.writing.targets import PREFIX, target_of
from goalwright_skills.safe_moves import Content
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ChangeAction = Literal["write", "delete", "move"]
ChangeState = Literal["proposed", "started", "applied", "conflict", "undone"]
# The hashes of a path's content before and after; None means no file.
Ends = tuple[str | None, str | None]
ARTIFACTS = "artifacts:"
_HASH = re.compile(r"[0-9a-f]{64}")
_MODES = 0o777


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change made by a call: the hashes of the content before and after; None means no file.

    `digest` is the hash of the call's arguments, `at` the time of application in nanoseconds, `to` the new path of a
    moved file, and `mode` the permissions of a moved or deleted file. `size` is set for a file that is too large to be
    copied: the file itself is kept instead of its content.
    """

    key: str
    path: str
    before: str | None
    after: str | None
    digest: str = ""
    state: ChangeState = "proposed"
    at: int = 0
    folders: int = 0  # the number of folders created for the file
    action: ChangeAction = "write"
    to: str | None = None
    mode: int | None = None
    size: int | None = None

    @property
    def ends(self) -> dict[str, Ends]:
        """The change of each path; new files come before removed ones, so that an interruption loses nothing."""
        if self.to is not None:
            return {self.to: (None, self.after), self.path: (self.before, None)}
        return {self.path: (self.before, self.after)}

    @property
    def large(self) -> Content | None:
        """The content of a file that is too large to be copied."""
        return Content(self.before, self.size) if self.before is not None and self.size is not None else None

    @property
    def made(self) -> str:
        """The path whose folders may have to be created."""
        return self.to or self.path


def read_change(data: bytes | None, workspace: Path, folder: Path) -> FileChange | None:
    """Parse a stored change; None if goalwright cannot have written it, since a checkout may contain forged records."""
    try:
        row = FileChange(**json.loads(data or b"null"))
        for path in (row.path, *([row.to] if row.to is not None else [])):
            target = path if path.startswith(ARTIFACTS) and row.action == "write" else f"{PREFIX}{path}"
            target_of(target, workspace, folder)  # refuses paths that no tool may write
    except (ValueError, TypeError, AttributeError, RecursionError, ToolFault):
        return None
    return row if _is_whole(row) else None


def _is_whole(row: FileChange) -> bool:
    fits = {
        "write": row.after is not None and row.to is None,
        "delete": row.before is not None and row.after is None and row.to is None,
        "move": row.before is not None and row.after == row.before and row.to not in (None, row.path),
    }
    hashes = [digest for digest in (row.before, row.after) if digest is not None]
    numbers = isinstance(row.at, int) and isinstance(row.folders, int)
    mode = row.mode is None or (isinstance(row.mode, int) and 0 <= row.mode <= _MODES)
    size = row.size is None or (isinstance(row.size, int) and row.size > 0 and row.action != "write")
    is_known = row.state in get_args(ChangeState) and all(map(_is_hash, hashes))
    return is_known and numbers and mode and size and fits.get(row.action, False)


def _is_hash(digest: object) -> bool:
    return isinstance(digest, str) and _HASH.fullmatch(digest) is not None


def ends_of(changes: Iterable[FileChange]) -> dict[str, Ends]:
    """Return for each path its content before the first applied change and after the last one."""
    combined: dict[str, Ends] = {}
    for change in changes:
        if change.state == "applied":
            for path, (before, after) in change.ends.items():
                combined[path] = (combined[path][0] if path in combined else before, after)
    return dict(sorted(combined.items()))


def large_in(changes: Iterable[FileChange]) -> dict[str | None, Content]:
    """Return the contents that were moved or deleted and are too large to be copied, by hash."""
    return {large.sha256: large for change in changes if (large := change.large) is not None}


def linked(changes: Iterable[FileChange]) -> list[tuple[FileChange, ...]]:
    """Group the applied changes that share paths, also through moves; a group is undone together."""
    groups: list[tuple[set[str], list[FileChange]]] = []
    for change in changes:
        if change.state == "applied":
            paths, members = set(change.ends), [change]
            for group in [group for group in groups if group[0] & paths]:
                paths, members = paths | group[0], [*group[1], *members]
                groups.remove(group)
            groups.append((paths, members))
    return [tuple(sorted(members, key=lambda change: change.at)) for _, members in groups]


def renamed(changes: Iterable[FileChange]) -> dict[str, str]:
    """Return for each renamed file its original path, following chains of moves.

    Files that the changes created themselves are left out.
    """
    sources: dict[str, str] = {}
    for change in changes:
        if change.state == "applied" and change.to is not None:
            sources[change.to] = sources.pop(change.path, change.path)
    ends = ends_of(changes)
    originals = {
        path: ends[path][0] for path in sources.values() if ends[path][0] is not None and ends[path][1] is None
    }
    unchanged = {path: to for to, path in sources.items() if path in originals and ends[to] == (None, originals[path])}
    return {to: path for path, to in unchanged.items()}  # each source once
