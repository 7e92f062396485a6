"""Where a task writes."""

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
    """The last writer of each path; shared by all tasks of a run."""

    writers: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def rival(self, path: str, task: str, before: Before) -> str | None:
        """The task that wrote a path and neither is this one nor comes before it."""
        writer = self.writers.get(path)
        return writer if writer is not None and writer != task and not before(writer) else None

    def take(self, path: str, task: str) -> None:
        """Note who wrote it."""
        self.writers[path] = task


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WritePlace:
    """Where a task writes, and how much: its run's folders, what other tasks wrote, and which tasks come before it."""

    workspace: Path
    artifacts: Path
    writes: WorkspaceWrites = "deny"
    task: str = ""
    before: Before = _never
    claims: Claims = field(default_factory=Claims)
    disk: DiskLimits = field(default_factory=DiskLimits)

    @property
    def changes(self) -> WorkspaceChanges:
        """The changes that the run makes in the workspace."""
        return WorkspaceChanges(self.workspace, self.artifacts.parent / "changes")
