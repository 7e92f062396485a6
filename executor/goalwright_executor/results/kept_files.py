"""The files that tools left in a run's artifacts, from their envelopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_planner.plan.task_id import in_order, with_parents
from goalwright_skills.image_file import Image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

_BELOW = "Files of this task; read them with the tool ReadFile:"
_MOST = 50


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file in a run's artifacts: its path, size and hash, and the task that wrote it last."""

    path: str
    bytes: int
    sha256: str
    task: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the file as `--json` prints it."""
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256, "task": self.task}


@dataclass(slots=True)
class KeptFiles:
    """The files of a run by path and by task; `images` are those that can be shown to a model."""

    files: dict[str, Artifact] = field(default_factory=dict)
    by_task: dict[str, dict[str, None]] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)
    images: dict[str, Image] = field(default_factory=dict)

    def note(self, task: str | None, envelope: Mapping[str, Any]) -> None:
        """Add what a call left; paths must be plain, because a record may be untrusted."""
        data = envelope.get("data")
        if not isinstance(data, dict) or envelope.get("status") == "error":
            return
        self.add(task, data.get("artifacts"), envelope.get("images"))
        self.changed |= {row["path"]: task or "" for row in _rows(data.get("changes")) if is_plain(row.get("path"))}

    def add(self, task: str | None, artifacts: Any, images: Any) -> None:
        """Add files of a task and its images, in the form of tool results."""
        for row in _rows(artifacts):
            path, size, digest = row.get("path"), row.get("bytes"), row.get("sha256")
            if isinstance(path, str) and is_plain(path) and isinstance(size, int) and isinstance(digest, str):
                self.files[path] = Artifact(path, size, digest, task)
                self.by_task.setdefault(task or "", {})[path] = None
        self.images |= {image.path: image for image in _images(images) if image.path in self.files}

    def of_task(self, task: str) -> dict[str, Any]:
        """Return the `artifacts` and `images` that a task wrote last, in the form that `add` takes."""
        files = [artifact for artifact in self.listed() if artifact.task == task]
        images = [self.images[artifact.path] for artifact in files if artifact.path in self.images]
        return {
            "artifacts": tuple({"path": file.path, "bytes": file.bytes, "sha256": file.sha256} for file in files),
            "images": tuple(images),
        }

    def listed(self) -> tuple[Artifact, ...]:
        """Return all files, by path."""
        return tuple(self.files[path] for path in sorted(self.files))

    def images_of(self, task: str, plan: Plan) -> list[Image]:
        """Return the images that a task and its parts made."""
        return [self.images[path] for path in self._paths(task, plan) if path in self.images]

    def _paths(self, task: str, plan: Plan) -> list[str]:
        """Return the files of a task and its parts, in the order of the plan."""
        own = {name for name in self.by_task if name == task or (name in plan and task in with_parents(name))}
        if not own - {task}:
            return list(self.by_task.get(task, ()))
        parts = in_order(part.id for part in plan.tasks if task in with_parents(part.id))
        return list(dict.fromkeys(path for name in parts if name in own for path in self.by_task[name]))

    def below(self, task: str, plan: Plan, artifacts: Path) -> str:
        """Return the list of a task's files, shown below its result in later prompts; empty if none."""
        paths = self._paths(task, plan)
        if not paths:
            return ""
        left = len(paths) - _MOST
        lines = [f"- {artifacts / path}" for path in paths[:_MOST]] + ([f"- and {left} more"] if left > 0 else [])
        return "\n".join(("", "", _BELOW, *lines))

    def copy(self) -> KeptFiles:
        """Return an independent copy."""
        by_task = {task: dict(own) for task, own in self.by_task.items()}
        return KeptFiles(dict(self.files), by_task, dict(self.changed), dict(self.images))


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list | tuple) else []


def _images(value: Any) -> list[Image]:
    try:
        return msgspec.convert(value, list[Image]) if value else []
    except msgspec.ValidationError:
        return []


def is_plain(path: Any) -> bool:
    """Whether a path leads from a folder to something below it."""
    if not isinstance(path, str) or not path or "\0" in path or "\\" in path:
        return False
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def writers_of(files: KeptFiles) -> dict[str, str]:
    """Return the last writer of each file, by the names that tools use."""
    kept = {path: artifact.task or "" for path, artifact in files.files.items()}
    return kept | {f"workspace:{path}": task for path, task in files.changed.items()}
