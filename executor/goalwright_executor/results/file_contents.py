"""The contents of files that tools leave in a run's artifacts, recorded with the run and restored where missing.

When another machine continues the run, it writes missing files from the record.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.files.images import decoded, encoded
from goalwright_executor.results.artifacts import make_home
from goalwright_executor.results.kept_files import KeptFiles, is_plain
from goalwright_planner.events import FileKept
from goalwright_skills import safe_files
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.kept_files import Artifact

# Bytes of the largest recorded file, and of all files of a run; larger files stay on their machine.
MOST_BYTES = 8 * 1024 * 1024
MOST_OF_A_RUN = 64 * 1024 * 1024


@dataclass(slots=True)
class FileContents:
    """Reads files that tools leave, and restores them where they are missing."""

    artifacts: Artifacts
    capture: Capture
    taken_bytes: int = 0

    def taken(
        self, task: str | None, envelope: Mapping[str, Any], kept: Container[tuple[str, str]] = ()
    ) -> list[FileKept]:
        """Return the contents of the files that a call left, to be recorded, without `kept` ones."""
        left = KeptFiles()
        left.note(task, envelope)
        new = (artifact for artifact in left.listed() if (artifact.path, artifact.sha256) not in kept)
        contents = (self._content(artifact) for artifact in new if artifact.bytes <= MOST_BYTES)
        return [content for content in contents if content is not None]

    def restore(self, files: Sequence[Artifact], recorded: Callable[[], Iterable[FileKept]]) -> list[str]:
        """Write missing files from the record; returns the paths that the record does not have."""
        missing = {artifact.path: artifact.sha256 for artifact in self._missing(files)}
        if not missing:
            return []
        latest: dict[str, bytes] = {}
        for kept in recorded():
            if kept.sha256 == missing.get(kept.path) and (data := decoded(kept)) is not None:
                latest[kept.path] = data
        for path, data in latest.items():
            self._write(path, data)
        return sorted(missing.keys() - latest.keys())

    def copy(self, files: Sequence[Artifact], run_id: str) -> None:
        """Copy missing files from another run's folder, if they are unchanged there.

        The other run's id may come from an untrusted record, and so may paths.
        """
        if not is_plain(run_id) or "/" in run_id:
            return
        folder = self.artifacts.folder.parents[1] / run_id / self.artifacts.folder.name
        for file in self._missing(files):
            try:
                data = safe_files.read(folder / file.path, below=self.artifacts.workspace, limit=file.bytes)
            except (OSError, GoalwrightError):
                continue
            if data is not None and hashlib.sha256(data).hexdigest() == file.sha256:
                self._write(file.path, data)

    def _missing(self, files: Sequence[Artifact]) -> list[Artifact]:
        return [file for file in files if is_plain(file.path) and not self._path(file.path).is_file()]

    def _write(self, path: str, data: bytes) -> None:
        make_home(self.artifacts.folder.parents[2])
        safe_files.write(self._path(path), data, below=self.artifacts.workspace)

    def _content(self, file: Artifact) -> FileKept | None:
        try:
            data = safe_files.read(self._path(file.path), below=self.artifacts.workspace, limit=MOST_BYTES)
        except (OSError, GoalwrightError):  # a link or a device was not left by the tool
            return None
        if data is None or hashlib.sha256(data).hexdigest() != file.sha256:  # another call has changed it meanwhile
            return None
        if self.taken_bytes + len(data) > MOST_OF_A_RUN:
            return None
        self.taken_bytes += len(data)
        try:
            return FileKept(file.task, file.path, file.sha256, text=data.decode())
        except UnicodeDecodeError:
            if self.capture.secrets.reveals(data.decode("latin-1")):  # unlike a text, it cannot be redacted
                return None
            return FileKept(file.task, file.path, file.sha256, data=encoded(data))

    def _path(self, path: str) -> Path:
        return self.artifacts.folder / path
