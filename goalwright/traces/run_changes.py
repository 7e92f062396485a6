"""The changes of a run in the workspace, read from the journal and the run's folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from goalwright.runs.stored import records
from goalwright_executor.approvals.approvals import denial
from goalwright_executor.results.artifacts import Artifacts
from goalwright_planner.events import ToolCalled
from goalwright_skills.builtin.writing.changes import WorkspaceChanges
from goalwright_skills.builtin.writing.targets import PREFIX
from goalwright_skills.tools.envelope import Envelope

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright_executor.stores.store import Store
    from goalwright_skills.builtin.writing.file_change import ChangeAction, FileChange

_ACTIONS: dict[str, ChangeAction] = {
    "WriteFile": "write",
    "EditFile": "write",
    "DeleteFile": "delete",
    "MoveFile": "move",
}
FileState = Literal["applied", "denied", "conflict", "undone"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a run changed or tried to change, with the hash of its new content; `to` is the target of a move."""

    path: str
    action: ChangeAction
    to: str | None
    state: FileState
    sha256: str | None


@dataclass(frozen=True, slots=True)
class RunChanges:
    """All changes of a run in the workspace."""

    run_id: str
    files: tuple[ChangedFile, ...]
    patch: str

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as `--json` prints them."""
        return {"run_id": self.run_id, "files": [asdict(file) for file in self.files], "patch": self.patch}


def read(store: Store, run: str, paths: Paths) -> RunChanges:
    """Read the changes of a recorded run."""
    run_id = store.find(run).run_id
    changes = changes_of(paths, run_id)
    recorded = {change.key: change for change in changes.every()}
    files: dict[tuple[str, str, str], ChangedFile] = {}
    for change in recorded.values():
        match change.state:
            case "applied" | "conflict" | "undone" as state:
                changed = ChangedFile(change.path, change.action, change.to, state, change.after)
                files[change.path, state, change.to or ""] = changed
    for row in store.rows(run_id, types=("tool_called",)):
        event = records.event_of(row, paths)
        if isinstance(event, ToolCalled) and (denied := _denied(event, recorded.get(event.call))) is not None:
            files[denied.path, denied.state, denied.to or ""] = denied
    patch = changes.patch(list(recorded.values()))
    return RunChanges(run_id, tuple(files[key] for key in sorted(files)), patch)


def _denied(event: ToolCalled, shown: FileChange | None) -> ChangedFile | None:
    """Return the workspace change of a call that a person denied, if any."""
    if event.name not in _ACTIONS or denial(Envelope.from_dict(event.envelope)) is None:
        return None
    arguments = event.envelope.get("context", {}).get("params_input", {})
    path, to = (value if isinstance(value := arguments.get(name), str) else "" for name in ("path", "to"))
    if not path.startswith(PREFIX):
        return None
    action, after = _ACTIONS[event.name], shown.after if shown is not None else None
    return ChangedFile(path.removeprefix(PREFIX), action, to.removeprefix(PREFIX) or None, "denied", after)


def changes_of(paths: Paths, run_id: str) -> WorkspaceChanges:
    """Open the folder with the changes of a run."""
    return WorkspaceChanges(paths.workspace, Artifacts.of(paths.workspace, run_id).folder.parent / "changes")
