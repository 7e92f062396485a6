"""Newer versions of skills that came from git repositories: fetched, compared, and put in place on request."""

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
    """What became of one skill."""

    name: str
    url: str
    state: UpdateState


@dataclass(frozen=True, slots=True)
class FetchedVersion:
    """A skill as its repository has it now, beside the one in the workspace."""

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
        """What changes, file by file, as the lines of a patch; a long one is cut."""
        return _differences(self.staged.target, self.staged.folder)

    def install(self) -> None:
        """Put this version in place of the workspace's."""
        self.staged.commit(replace=True)
        self.record()

    def record(self) -> None:
        """Record in the lock file that the workspace has this version."""
        digest = lock_file.fingerprint(self.staged.target)
        lock_file.record(self.workspace, self.staged.id, lock_file.Origin(self.origin.url, self.commit, digest))


def imported_skills(workspace: Path, names: Sequence[str]) -> dict[str, Origin]:
    """The skills that came from repositories, or those of the names; raises if one did not."""
    origins = lock_file.read(workspace)
    for name in names:
        if name not in origins:
            raise InputError(
                f"{name} was not imported from a repository", hint="`goalwright skills import URL` records where from"
            )
    return {name: origins[name] for name in names or sorted(origins)}


@contextlib.contextmanager
def fetched_version(workspace: Path, name: str, origin: Origin, *, local: bool) -> Iterator[FetchedVersion]:
    """The newest version of a skill, gone after the block; `local` allows repositories on this machine."""
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
                yield "… the rest of the difference is left out"
                return
            yield line


def _lines(path: Path) -> list[str]:
    try:
        return untrusted_files.read_text(path).splitlines()
    except (OSError, UnicodeDecodeError):
        return [f"({path.stat().st_size} bytes)"] if path.is_file() else []
