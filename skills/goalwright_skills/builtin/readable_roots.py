"""The paths that tools may read: the workspace without hidden files, the skills' folders, and the user's given files.

A path is first resolved with its links and checked; then each of its folders is opened without following links, so that
no link can be swapped between the check and the use.
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
    """The readable folders; `folders` is called every time, because skills come and go."""

    workspace: Path
    folders: Callable[[], Iterable[Path]] = tuple
    extra: Sequence[Path] = ()
    artifacts: Path | None = None

    def resolve(self, path: str) -> Path:
        """Return the real path of a relative or absolute path; raises ToolFault if it is outside the roots."""
        if "\0" in path or not path.strip():
            raise ToolFault("INVALID_PARAM", f"path {path!r} is not a path; give one relative to {self.workspace}")
        path = self._start(path)
        absolute = Path(os.path.abspath(self.workspace / path))
        try:
            real = Path(os.path.realpath(self.workspace / path))
        except (OSError, ValueError) as error:
            raise ToolFault("INVALID_PARAM", f"path {path!r} cannot be resolved: {error}; give another path") from error
        if any(str(real) == kernel or str(real).startswith(kernel + "/") for kernel in KERNEL):
            raise ToolFault(
                "ACCESS_DENIED",
                f"{real} is a file of the operating system; read files in the workspace or in a skill's folder",
            )
        if self._was_given(real):
            return real
        if not self._holds(absolute, real):
            raise ToolFault(
                "ACCESS_DENIED",
                f"{path!r} is outside {self.workspace} and the skills' folders; read files inside them",
            )
        if self.hides(absolute, real):
            raise ToolFault(
                "ACCESS_DENIED",
                f"{path!r} is hidden from tools, like secrets, settings, .git and .agents; read other files",
            )
        return real

    def _start(self, path: str) -> str:
        """Strip the prefix `workspace:`, or return an artifact's path if the workspace has no such file."""
        named = path.removeprefix("workspace:")
        if named == path and self.artifacts is not None and not os.path.lexists(self.workspace / path):
            kept = self.artifacts / path
            return str(kept) if os.path.lexists(kept) else path
        return named if not os.path.lexists(self.workspace / path) else path

    def hides(self, absolute: Path, real: Path) -> bool:
        """Return whether a path is hidden from tools, as written or after resolving links."""
        shown = shown_anyway(self.workspace, self.artifacts)
        written = Path(os.path.abspath(self.workspace))
        workspace = Path(os.path.realpath(self.workspace))
        if real.is_relative_to(workspace):
            return is_hidden(workspace, real, unlinked(self.workspace, shown)) or is_hidden(written, absolute, shown)
        below = [folder for folder in self._candidates(absolute, real) if real.is_relative_to(folder)]
        return is_hidden(written, absolute, shown) or all(is_hidden(folder, real) for folder in below)

    def hides_entry(self, folder: Path, name: str) -> bool:
        """Return whether an entry of a readable folder is hidden."""
        return is_hidden_name(name) and not self._was_given(folder / name)

    def _was_given(self, real: Path) -> bool:
        """Return whether the user gave this file."""
        return any(real == Path(os.path.realpath(file)) for file in self.extra) and not real.is_dir()

    def open(self, real: Path) -> int:
        """Open a resolved path and return its file descriptor; a hard link to a hidden file is refused."""
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
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and self._is_hidden_file(real, status):
            os.close(descriptor)
            raise ToolFault("ACCESS_DENIED", f"{real} is a hard link to a hidden file; read other files")
        return descriptor

    def _is_hidden_file(self, real: Path, status: os.stat_result) -> bool:
        if self._was_given(real) or (self.artifacts is not None and real.is_relative_to(self.artifacts)):
            return False
        return (status.st_dev, status.st_ino) in hidden_files(self.workspace)

    def _holds(self, absolute: Path, real: Path) -> bool:
        return any(real.is_relative_to(folder) for folder in self._candidates(absolute, real))

    def _candidates(self, absolute: Path, real: Path) -> list[Path]:
        """Return the real roots that may contain a path."""
        roots = [Path(os.path.realpath(root)) for root in (self.workspace, *self.extra)]
        # Resolving thousands of skills' folders would be slow, so only those that contain the path are resolved.
        folders = {str(folder): folder for folder in self.folders()}
        named = {
            str(p): folders[str(p)] for path in (absolute, real) for p in (path, *path.parents) if str(p) in folders
        }
        parts = [part for folder in named.values() for part in skill_parts(folder, self.workspace)]
        return [*roots, *(Path(os.path.realpath(part)) for part in parts)]


def _existing_parent(path: Path) -> Path:
    """Return the nearest existing parent folder."""
    return next(folder for folder in path.parents if folder.is_dir() or folder == folder.parent)


def of(registry: Registry, extra: Sequence[Path] = (), artifacts: Path | None = None) -> ReadableRoots:
    """Return the roots of a registry: its workspace, the folders of its active skills, and `extra` files."""

    def folders() -> list[Path]:
        return [skill.base_dir for skill in registry.list_skills()]

    return ReadableRoots(registry.workspace, folders, extra, artifacts)


def _descend(real: Path) -> int:
    if os.open not in os.supports_dir_fd:
        return os.open(real, os.O_RDONLY | _QUIET)
    descriptor = os.open(real.anchor, os.O_RDONLY | _DIRECTORY | _QUIET)
    parts = real.parts[1:]
    for index, part in enumerate(parts):
        flags = os.O_RDONLY | _NOFOLLOW | _QUIET | (_DIRECTORY if index < len(parts) - 1 else 0)
        try:
            child = os.open(part, flags, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = child
    return descriptor
