"""A run's own folder, for texts that are too long for a prompt and files that tools write."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_executor.capture.named_roots import NamedRoots
from goalwright_skills import safe_files

if TYPE_CHECKING:
    from pathlib import Path

_UNSAFE = re.compile(r"[^\w.-]")
_LONGEST_NAME = 255  # bytes
IGNORED = (
    "# Written by goalwright. Skills in this folder are yours to commit.\n/runs/\n/evals/\n/journal*\n/.gitignore\n"
)


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The folder `<workspace>/.agents/runs/<run-id>/artifacts/`, created when first needed."""

    folder: Path
    written: bool = True

    @classmethod
    def of(cls, workspace: Path, run_id: str, *, written: bool = True) -> Artifacts:
        """Return the artifacts of a run in a workspace."""
        return cls(workspace / ".agents" / "runs" / run_id / "artifacts", written)

    @property
    def workspace(self) -> Path:
        """The workspace of the run."""
        return self.folder.parents[3]

    @property
    def roots(self) -> NamedRoots:
        """The named roots of the run's record: its own folder and the workspace."""
        return NamedRoots.of(self.folder.parent, self.workspace)

    def keep(self, name: str, text: str) -> Path:
        """Write a text and return its path; a replay (`written` is false) only returns the path."""
        path = self.folder / _file_name(name)
        if not self.written:
            return path
        make_home(self.folder.parents[2])
        safe_files.write(path, text, below=self.workspace)
        return path


def _file_name(name: str) -> str:
    """Return a file name for a text; different texts never share one, whatever characters their names have."""
    quoted = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), name)
    if len(quoted.encode()) <= _LONGEST_NAME:
        return quoted
    ending = f"-{hashlib.sha256(name.encode()).hexdigest()[:16]}{quoted[quoted.rfind('.') :]}"
    return quoted.encode()[: _LONGEST_NAME - len(ending)].decode(errors="ignore") + ending


def make_home(agents: Path) -> None:
    """Create a workspace's `.agents` folder, with a `.gitignore` that keeps runs out of version control."""
    safe_files.create(agents / ".gitignore", IGNORED, below=agents.parent)
