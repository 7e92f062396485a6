"""Where a task may write, and the writers of a run's files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.builtin.writing.changes import WorkspaceChanges
from goalwright_skills.tools.disk_use import DiskLimits

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.builtin.writing.targets import WorkspaceWrites


Before = Callable[[str], bool]


@dataclass(slots=True)
class Claims:
    """The last writer of each path, shared by all tasks of a run.

    If two tasks without an order wrote the same path, the result would depend on which is faster.
    """

    writers: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def rival(self, path: str, task: str, before: Before) -> str | None:
        """Return the task that wrote a path, unless it is this task or comes before it."""
        writer = self.writers.get(path)
        return writer if writer is not None and writer != task and not before(writer) else None

    def take(self, path: str, task: str) -> None:
        """Record the writer of a path."""
        self.writers[path] = task


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WritePlace:
    """Where and how much a task may write: its run's folders and limits, and the files of other tasks."""

    workspace: Path
    artifacts: Path
    writes: WorkspaceWrites = "deny"
    task: str = ""
    before: Before = _never
    claims: Claims = field(default_factory=Claims)
    disk: DiskLimits = field(default_factory=DiskLimits)

    @property
    def changes(self) -> WorkspaceChanges:
        """The run's changes of workspace files."""
        return WorkspaceChanges(self.workspace, self.artifacts.parent / "changes")
