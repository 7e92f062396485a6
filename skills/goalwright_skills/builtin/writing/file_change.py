"""One change of files of the workspace, as a run keeps it, and what several make of each path."""

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
# The hash of a path's content before and after; None for no file.
Ends = tuple[str | None, str | None]
ARTIFACTS = "artifacts:"
_HASH = re.compile(r"[0-9a-f]{64}")
_MODES = 0o777


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change, by a call: the hashes of the content before and after; None stands for no file.

    `digest` is of the arguments it was made for, `at` when it was applied, in nanoseconds. A move has the path that it
    leads `to`; its content stays the same. `mode` has the permissions of a file that is moved or deleted. One that is
    too large to be copied has its `size`: of such a file no content is kept, but the file itself.
    """

    key: str
    path: str
    before: str | None
    after: str | None
    digest: str = ""
    state: ChangeState = "proposed"
    at: int = 0
    folders: int = 0  # how many folders above the file had to be made for it
    action: ChangeAction = "write"
    to: str | None = None
    mode: int | None = None
    size: int | None = None

    @property
    def ends(self) -> dict[str, Ends]:
        """What it makes of each path; what appears comes before what goes, so that a kill loses nothing."""
        if self.to is not None:
            return {self.to: (None, self.after), self.path: (self.before, None)}
        return {self.path: (self.before, self.after)}

    @property
    def large(self) -> Content | None:
        """What a file holds that is too large to be copied."""
        return Content(self.before, self.size) if self.before is not None and self.size is not None else None

    @property
    def made(self) -> str:
        """The path whose folders it may have to make."""
        return self.to or self.path


def read_change(data: bytes | None, workspace: Path, folder: Path) -> FileChange | None:
    """A change as it was kept; None if it is not one that goalwright could have kept, since a checkout may bring some."""
    try:
        row = FileChange(**json.loads(data or b"null"))
        for path in (row.path, *([row.to] if row.to is not None else [])):
            named = path if path.startswith(ARTIFACTS) and row.action == "write" else f"{PREFIX}{path}"
            target_of(named, workspace, folder)  # refuses what no tool may write
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
    held = row.state in get_args(ChangeState) and all(map(_is_hash, hashes))
    return held and numbers and mode and size and fits.get(row.action, False)


def _is_hash(digest: object) -> bool:
    return isinstance(digest, str) and _HASH.fullmatch(digest) is not None


def ends_of(changes: Iterable[FileChange]) -> dict[str, Ends]:
    """For each path, its content before the first applied change and after the last one."""
    found: dict[str, Ends] = {}
    for change in changes:
        if change.state == "applied":
            for path, (before, after) in change.ends.items():
                found[path] = (found[path][0] if path in found else before, after)
    return dict(sorted(found.items()))


def large_in(changes: Iterable[FileChange]) -> dict[str | None, Content]:
    """What the changes moved or deleted that is too large to be copied, by its hash."""
    return {large.sha256: large for change in changes if (large := change.large) is not None}


def linked(changes: Iterable[FileChange]) -> list[tuple[FileChange, ...]]:
    """The applied changes in groups that share paths, by moves too: what is undone together."""
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
    """For each path that a move gave its whole content to, the path that it came from; chains are followed.

    A file that the changes made themselves came from nowhere.
    """
    came: dict[str, str] = {}
    for change in changes:
        if change.state == "applied" and change.to is not None:
            came[change.to] = came.pop(change.path, change.path)
    ends = ends_of(changes)
    began = {path: ends[path][0] for path in came.values() if ends[path][0] is not None and ends[path][1] is None}
    whole = {path: to for to, path in came.items() if path in began and ends[to] == (None, began[path])}
    return {to: path for path, to in whole.items()}  # each once
