"""What a run changed in the workspace: read from its record and its folder, as one patch, and undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from weft.runs.stored import records
from weft_executor.approvals.approvals import denial
from weft_executor.results.artifacts import Artifacts
from weft_planner.events import ToolCalled
from weft_skills.builtin.writing.changes import WorkspaceChanges
from weft_skills.builtin.writing.targets import PREFIX
from weft_skills.tools.envelope import Envelope

if TYPE_CHECKING:
    from weft.settings.paths import Paths
    from weft_executor.stores.store import Store

_TOOLS = ("WriteFile", "EditFile")
FileState = Literal["applied", "denied", "conflict", "undone"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a run changed or wanted to change, and the hash of what it was to hold."""

    path: str
    state: FileState
    sha256: str | None


@dataclass(frozen=True, slots=True)
class RunChanges:
    """All that a run changed in the workspace."""

    run_id: str
    files: tuple[ChangedFile, ...]
    patch: str

    def to_dict(self) -> dict[str, Any]:
        """The changes as `--json` prints them."""
        rows = [{"path": file.path, "state": file.state, "sha256": file.sha256} for file in self.files]
        return {"run_id": self.run_id, "files": rows, "patch": self.patch}


def read(store: Store, run: str, paths: Paths) -> RunChanges:
    """The changes of a stored run."""
    run_id = store.find(run).run_id
    changes = changes_of(paths, run_id)
    kept = {change.key: change for change in changes.every()}
    files: dict[tuple[str, str], ChangedFile] = {}
    for change in kept.values():
        if change.state != "proposed":
            files[change.path, change.state] = ChangedFile(change.path, change.state, change.after)
    for row in store.rows(run_id, types=("tool_called",)):
        event = records.event_of(row, paths)
        if not isinstance(event, ToolCalled) or event.name not in _TOOLS:
            continue
        path = event.envelope.get("context", {}).get("params_input", {}).get("path")
        if isinstance(path, str) and path.startswith(PREFIX) and denial(Envelope.from_dict(event.envelope)) is not None:
            name = path.removeprefix(PREFIX)
            shown = kept.get(event.call)
            files[name, "denied"] = ChangedFile(name, "denied", shown.after if shown is not None else None)
    patch = changes.patch(kept.values())
    return RunChanges(run_id, tuple(files[key] for key in sorted(files)), patch)


def changes_of(paths: Paths, run_id: str) -> WorkspaceChanges:
    """The folder in which a run keeps its changes."""
    return WorkspaceChanges(paths.workspace, Artifacts.of(paths.workspace, run_id).folder.parent / "changes")
