"""What the file tools may read: the workspace without what it hides, the skills' folders, and files that the user gave.

A path is first resolved with its links and checked; then each of its folders is opened in turn without following links,
so that nothing can be swapped between the check and the use.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.hidden_paths import hidden_files, is_hidden, is_hidden_name, shown_anyway, skill_parts, unlinked
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goalwright_skills.discovery.registry import Registry

KERNEL = ("/proc", "/sys", "/dev")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_QUIET = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


@dataclass(frozen=True, slots=True)
class ReadableRoots:
    """The folders that may be read; `folders` is called every time, because skills come and go."""

    workspace: Path
    folders: Callable[[], Iterable[Path]] = tuple
    extra: Sequence[Path] = ()
    artifacts: Path | None = None

    def resolve(self, path: str) -> Path:
        """The real path of a relative or absolute one; raises ToolFault if it is outside the roots."""
        if "\0" in path or not path.strip():
            raise ToolFault("INVALID_PARAM", f"path {path!r} is not a path; give one relative to {self.workspace}")
        path = self._start(path)
        given = Path(os.path.abspath(self.workspace / path))
        try:
            real = Path(os.path.realpath(self.workspace / path))
        except (OSError, ValueError) as error:
            raise ToolFault("INVALID_PARAM", f"path {path!r} cannot be resolved: {error}; give another path") from error
        if any(str(real) == kernel or str(real).startswith(kernel + "/") for kernel in KERNEL):
            raise ToolFault(
                "ACCESS_DENIED", f"{real} belongs to the system; read files in the workspace or in a skill's folder"
            )
        if self._was_given(real):
            return real
        if not self._holds(given, real):
            raise ToolFault(
                "ACCESS_DENIED",
                f"{path!r} is outside {self.workspace} and the skills' folders; read files inside them",
            )
        if self.hides(given, real):
            raise ToolFault(
                "ACCESS_DENIED",
                f"{path!r} is hidden from tools, as secrets, settings, .git and .agents are; read other files",
            )
        return real

    def _start(self, path: str) -> str:
        """The path as tools that write name it: of the workspace, or of an artifact if the workspace has none."""
        named = path.removeprefix("workspace:")
        if named == path and self.artifacts is not None and not os.path.lexists(self.workspace / path):
            kept = self.artifacts / path
            return str(kept) if os.path.lexists(kept) else path
        return named if not os.path.lexists(self.workspace / path) else path

    def hides(self, given: Path, real: Path) -> bool:
        """Whether a path, as written or where its links lead, is one that no tool sees."""
        shown = shown_anyway(self.workspace, self.artifacts)
        written = Path(os.path.abspath(self.workspace))
        workspace = Path(os.path.realpath(self.workspace))
        if real.is_relative_to(workspace):
            return is_hidden(workspace, real, unlinked(self.workspace, shown)) or is_hidden(written, given, shown)
        below = [folder for folder in self._named(given, real) if real.is_relative_to(folder)]
        return is_hidden(written, given, shown) or all(is_hidden(folder, real) for folder in below)

    def hides_entry(self, folder: Path, name: str) -> bool:
        """Whether an entry of a folder that may be listed is hidden."""
        return is_hidden_name(name) and not self._was_given(folder / name)

    def _was_given(self, real: Path) -> bool:
        """Whether the user gave this very file."""
        return any(real == Path(os.path.realpath(file)) for file in self.extra) and not real.is_dir()

    def open(self, real: Path) -> int:
        """A file descriptor of a resolved path; not of a hidden file that it is another name of."""
        try:
            descriptor = _descend(real)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ToolFault(
                "NOT_FOUND", f"{real} does not exist; ListFiles on {_existing_parent(real)} shows what does"
            ) from error
        except PermissionError as error:
            raise ToolFault(
                "PERMISSION_DENIED",
                f"the operating system denies access to {real}; read another file, or continue without it",
            ) from error
        except OSError as error:
            raise ToolFault(
                "EXECUTION_ERROR", f"{real} cannot be opened: {error.strerror or error}; continue without it"
            ) from error
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 and self._names_hidden(real, found):
            os.close(descriptor)
            raise ToolFault("ACCESS_DENIED", f"{real} is another name of a file that is hidden; read other files")
        return descriptor

    def _names_hidden(self, real: Path, found: os.stat_result) -> bool:
        if self._was_given(real) or (self.artifacts is not None and real.is_relative_to(self.artifacts)):
            return False
        return (found.st_dev, found.st_ino) in hidden_files(self.workspace)

    def _holds(self, given: Path, real: Path) -> bool:
        return any(real.is_relative_to(folder) for folder in self._named(given, real))

    def _named(self, given: Path, real: Path) -> list[Path]:
        """The real roots that may hold a path."""
        roots = [Path(os.path.realpath(root)) for root in (self.workspace, *self.extra)]
        # Resolving thousands of skills' folders would be slow: only those that the path itself names are resolved.
        folders = {str(folder): folder for folder in self.folders()}
        named = {str(p): folders[str(p)] for path in (given, real) for p in (path, *path.parents) if str(p) in folders}
        parts = [part for folder in named.values() for part in skill_parts(folder, self.workspace)]
        return [*roots, *(Path(os.path.realpath(part)) for part in parts)]


def _existing_parent(path: Path) -> Path:
    """The nearest parent folder that exists."""
    return next(folder for folder in path.parents if folder.is_dir() or folder == folder.parent)


def of(registry: Registry, extra: Sequence[Path] = (), artifacts: Path | None = None) -> ReadableRoots:
    """A registry's workspace without what it hides, the folders of its active skills, and `extra`."""

    def folders() -> list[Path]:
        return [skill.base_dir for skill in registry.list_skills()]

    return ReadableRoots(registry.workspace, folders, extra, artifacts)


def _descend(real: Path) -> int:
    if os.open not in os.supports_dir_fd:
        return os.open(real, os.O_RDONLY | _QUIET)
    descriptor = os.open(real.anchor, os.O_RDONLY | _DIRECTORY | _QUIET)
    parts = real.parts[1:]
    for at, part in enumerate(parts):
        flags = os.O_RDONLY | _NOFOLLOW | _QUIET | (_DIRECTORY if at < len(parts) - 1 else 0)
        try:
            below = os.open(part, flags, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor
