"""Fetches newer versions of skills that were imported from git repositories, compares and installs them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.manage import install, lock_file
from goalwright_skills.manage.git_source import GitUrl, fetched
from goalwright_skills.text.line_difference import line_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goalwright_skills.manage.install import Staged
    from goalwright_skills.manage.lock_file import Origin

UpdateState = Literal["current", "changed", "updated", "skipped", "failed"]
_MAX_LINES = 400


@dataclass(frozen=True, slots=True)
class SkillUpdate:
    """The result of the update of a skill."""

    name: str
    url: str
    state: UpdateState


@dataclass(frozen=True, slots=True)
class FetchedVersion:
    """The current version of a skill in its repository, and the version in the workspace."""

    workspace: Path
    origin: Origin
    staged: Staged
    commit: str

    @property
    def is_current(self) -> bool:
        """Whether the workspace has exactly this version."""
        return lock_file.fingerprint(self.staged.folder) == lock_file.fingerprint(self.staged.target)

    @property
    def was_edited(self) -> bool:
        """Whether the workspace's copy was changed since it was imported."""
        return self.staged.exists and lock_file.fingerprint(self.staged.target) != self.origin.sha256

    def differences(self) -> Iterator[str]:
        """Return the changes, file by file, as the lines of a patch; a long patch is cut."""
        return _differences(self.staged.target, self.staged.folder)

    def install(self) -> None:
        """Replace the workspace's version by this one."""
        self.staged.commit(replace=True)
        self.record()

    def record(self) -> None:
        """Record in the lock file that the workspace has this version."""
        digest = lock_file.fingerprint(self.staged.target)
        lock_file.record(self.workspace, self.staged.id, lock_file.Origin(self.origin.url, self.commit, digest))


def imported_skills(workspace: Path, names: Sequence[str]) -> dict[str, Origin]:
    """Return the skills that were imported from repositories; raises if one of the names was not."""
    origins = lock_file.read(workspace)
    for name in names:
        if name not in origins:
            raise InputError(
                f"{name} was not imported from a repository", hint="import it with `goalwright skills import URL`"
            )
    return {name: origins[name] for name in names or sorted(origins)}


@contextlib.contextmanager
def fetched_version(workspace: Path, name: str, origin: Origin, *, local: bool) -> Iterator[FetchedVersion]:
    """Fetch the newest version of a skill, which is deleted after the block; `local` allows local repositories."""
    source = GitUrl.parse(origin.url, local=local)
    if source is None:
        raise InputError(f"{origin.url} is not the address of a repository", hint="import the skill again")
    with fetched(source, local=local) as (packed, commit), install.stage(packed, workspace, id=name) as staged:
        yield FetchedVersion(workspace, origin, staged, commit)


def _differences(before: Path, after: Path) -> Iterator[str]:
    files = {
        path.relative_to(folder).as_posix()
        for folder in (before, after)
        for path in folder.rglob("*")
        if path.is_file()
    }
    shown = 0
    for name in sorted(files):
        old, new = _lines(before / name), _lines(after / name)
        for line in line_difference(old, new, f"a/{name}", f"b/{name}", end=""):
            shown += 1
            if shown > _MAX_LINES:
                yield "… further changes are left out"
                return
            yield line


def _lines(path: Path) -> list[str]:
    try:
        return untrusted_files.read_text(path).splitlines()
    except (OSError, UnicodeDecodeError):
        return [f"({path.stat().st_size} bytes)"] if path.is_file() else []
