"""Where a task writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.builtin.writing.changes import WorkspaceChanges
from goalwright_skills.builtin.writing.claims import Before, Claims
from goalwright_skills.tools.disk_use import DiskLimits

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.builtin.writing.workspace_writes import WorkspaceWrites


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
