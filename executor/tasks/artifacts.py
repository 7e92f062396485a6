"""A run's own folder, for texts that are too long for a prompt and for what tools write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from executor.capture.named_roots import NamedRoots

if TYPE_CHECKING:
    from pathlib import Path

_IGNORED = "# what runs leave behind; skills beside it are yours to keep\n/runs/\n/journal*\n/.gitignore\n"


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The folder `<workspace>/.agents/runs/<run-id>/artifacts/`, made when it is first needed."""

    folder: Path
    written: bool = True

    @classmethod
    def of(cls, workspace: Path, run_id: str, *, written: bool = True) -> Artifacts:
        """The artifacts of a run in a workspace."""
        return cls(workspace / ".agents" / "runs" / run_id / "artifacts", written)

    @property
    def workspace(self) -> Path:
        """The workspace that the run works in."""
        return self.folder.parents[3]

    @property
    def roots(self) -> NamedRoots:
        """The folders that a record of the run names: its own and the workspace."""
        return NamedRoots.of(self.folder.parent, self.workspace)

    def keep(self, name: str, text: str) -> Path:
        """Write a text, whole, and say where it lies; a replay only says where it would."""
        path = self.folder / re.sub(r"[^\w.-]", "_", name)
        if not self.written:
            return path
        make_home(self.folder.parents[2])
        self.folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def make_home(agents: Path) -> None:
    """Make a workspace's `.agents` folder, with a `.gitignore` that keeps runs out of version control."""
    agents.mkdir(parents=True, exist_ok=True)
    ignore = agents / ".gitignore"
    if not ignore.exists():
        ignore.write_text(_IGNORED, encoding="utf-8")
