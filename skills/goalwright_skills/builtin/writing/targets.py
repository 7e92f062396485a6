"""Resolves and validates the paths that models write: in the run's artifacts or, with `workspace:`, the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from goalwright_skills.hidden_paths import is_hidden_name
from goalwright_skills.text.untrusted import steers
from goalwright_skills.tools.tool import ToolFault

PREFIX = "workspace:"
SIZE_LIMIT = 10 * 1024**2
LARGEST = 10 * 1024**3  # of a file that is moved or deleted, which is read once to hash it
LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Target:
    """A file to write: its path below its root, which is the artifacts or the workspace."""

    path: str
    root: Path
    in_workspace: bool

    @property
    def file(self) -> Path:
        """The absolute path."""
        return self.root / self.path

    @property
    def name(self) -> str:
        """The path as the model writes it."""
        return f"{PREFIX}{self.path}" if self.in_workspace else self.path


def target_of(path: object, workspace: Path, artifacts: Path) -> Target:
    """Resolve a path; raises ToolFault if it must not be written."""
    if not isinstance(path, str) or not path.strip() or "\0" in path or len(path) > LONGEST:
        raise ToolFault("INVALID_PARAM", f"path {path!r:.80} is not a path — give one such as report.md")
    if steers(path):
        problem = f"path {path!r:.80} contains control characters or direction marks"
        raise ToolFault("INVALID_PARAM", f"{problem} — remove them")
    in_workspace = path.startswith(PREFIX)
    root = workspace if in_workspace else artifacts
    text = path.removeprefix(PREFIX).strip()
    if Path(text).is_absolute():
        text = _below(text, root, workspace, path)
    parts = [part for part in PurePosixPath(text).parts if part != "."]
    if ".." in parts:
        raise ToolFault("ACCESS_DENIED", f"path {path!r} leaves its folder — give a path without `..`")
    if not parts or text.endswith("/"):
        raise ToolFault("IS_DIRECTORY", f"path {path!r} is a folder — name a file in it")
    if hidden := [part for part in parts if is_hidden_name(part)]:
        problem = (
            f"path {path!r} is hidden from tools because of {hidden[0]!r}, like secrets, settings, .git and .agents"
        )
        raise ToolFault("ACCESS_DENIED", f"{problem} — write another file")
    return Target("/".join(parts), root, in_workspace)


def _below(text: str, root: Path, workspace: Path, path: str) -> str:
    """Return an absolute path relative to its root."""
    try:
        return Path(text).relative_to(root).as_posix()
    except ValueError:
        inside = Path(text).is_relative_to(workspace)
        hint = f"to change a file of the workspace, write {PREFIX}PATH" if inside else "give a relative path"
        raise ToolFault("ACCESS_DENIED", f"path {path!r} is outside the run's artifacts — {hint}") from None


WorkspaceWrites = Literal["deny", "ask", "allow"]
