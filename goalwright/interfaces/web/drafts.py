"""Uploads that were not used yet: staged skill imports and files for a goal, kept for ten minutes."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.interfaces.web.errors import HttpError
from goalwright_skills import safe_files

if TYPE_CHECKING:
    from goalwright_skills.manage.install import Staged

MINUTES = 10
_MOST = 32


@dataclass(frozen=True, slots=True)
class _Draft:
    """An upload; closing it deletes its files."""

    value: Staged | Path
    closing: ExitStack
    until: float


class Drafts:
    """The drafts by key, in a temporary folder."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._drafts: dict[str, _Draft] = {}
        self._folder: Path | None = None

    def place(self, name: str = "upload") -> Path:
        """Return a path for a new upload, in a new folder; raise if there are too many uploads."""
        self.expire()
        if len(self._drafts) >= _MOST:
            raise HttpError(429, "TOO_MANY_DRAFTS", f"{_MOST} uploads are pending", hint="use or cancel some of them")
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="goalwright-serve-"))
        return Path(tempfile.mkdtemp(dir=self._folder)) / name

    def stage(self, archive: Path, name: str | None) -> tuple[str, Staged]:
        """Unpack an archive for import, and remove the upload."""
        from goalwright_skills.manage import install  # slow to import, and rarely needed

        with ExitStack() as stack:
            stack.callback(shutil.rmtree, archive.parent, ignore_errors=True)
            staged = stack.enter_context(install.stage(archive, self._workspace, id=name, name="the upload"))
            return self._keep(staged, stack.pop_all()), staged

    def keep(self, file: Path) -> str:
        """Keep an uploaded file."""
        stack = ExitStack()
        stack.callback(shutil.rmtree, file.parent, ignore_errors=True)
        return self._keep(file, stack)

    def staged(self, key: str) -> Staged:
        """Return the staged import of a key."""
        value = self._find(key).value
        if isinstance(value, Path):
            raise unknown(key)
        return value

    def file(self, key: str, name: str | None = None) -> Path:
        """Return the uploaded file of a key, or a copy of it beside it if `name` differs from its own."""
        upload = self._find(key).value
        if not isinstance(upload, Path):
            raise unknown(key)
        if name is None or name == upload.name:
            return upload
        copy = upload.with_name(name)
        if not copy.exists():
            safe_files.write(copy, upload.read_bytes(), below=upload.parent)
        return copy

    def drop(self, key: str) -> None:
        """Remove a draft; raise if there is none of that key."""
        self._find(key)
        self.forget(key)

    def forget(self, key: str) -> None:
        """Remove a draft if it still exists."""
        if (draft := self._drafts.pop(key, None)) is not None:
            draft.closing.close()

    def discard(self, upload: Path) -> None:
        """Remove an upload that could not be used."""
        shutil.rmtree(upload.parent, ignore_errors=True)

    def expire(self) -> None:
        """Remove the expired drafts."""
        now = time.monotonic()
        for key in [key for key, draft in self._drafts.items() if draft.until < now]:
            self.forget(key)

    def close(self) -> None:
        """Remove everything."""
        for draft in self._drafts.values():
            draft.closing.close()
        self._drafts.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _keep(self, value: Staged | Path, closing: ExitStack) -> str:
        key = secrets.token_urlsafe(16)
        self._drafts[key] = _Draft(value, closing, time.monotonic() + 60 * MINUTES)
        return key

    def _find(self, key: str) -> _Draft:
        self.expire()
        if key not in self._drafts:
            raise unknown(key)
        return self._drafts[key]


def unknown(key: str) -> HttpError:
    """Return the error for a key without a draft."""
    return HttpError(404, "NOT_FOUND", f"there is no upload {key[:40]!r}", hint=f"uploads are kept {MINUTES} minutes")
