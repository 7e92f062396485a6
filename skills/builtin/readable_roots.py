"""What the file tools may see: the workspace, the skills' own folders, and any further roots.

A path is resolved with its links first; then every folder of it is opened in turn without following links, so
that nothing can be swapped between the check and the use.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skills.discovery.registry import Registry
    from skills.tools.envelope import Code

KERNEL = ("/proc", "/sys", "/dev")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_QUIET = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


class PathRefused(Exception):
    """A path is not to be opened; `code` and the message are for the model."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class ReadableRoots:
    """The folders that may be read: `folders` is asked at each call, for skills come and go."""

    workspace: Path
    folders: Callable[[], Iterable[Path]] = tuple
    extra: Sequence[Path] = ()

    def resolve(self, path: str) -> Path:
        """The real path that a relative or absolute one leads to, if it lies under a root."""
        if "\0" in path or not path.strip():
            raise PathRefused("INVALID_PARAM", f"path {path!r} is not a path; give one relative to {self.workspace}")
        given = Path(os.path.abspath(self.workspace / path))
        try:
            real = Path(os.path.realpath(self.workspace / path))
        except (OSError, ValueError) as error:
            raise PathRefused(
                "INVALID_PARAM", f"path {path!r} cannot be resolved: {error}; give another one"
            ) from error
        if any(str(real) == kernel or str(real).startswith(kernel + "/") for kernel in KERNEL):
            raise PathRefused(
                "ACCESS_DENIED", f"{real} belongs to the system; read files of the workspace or of a skill"
            )
        if not self._holds(given, real):
            raise PathRefused(
                "ACCESS_DENIED",
                f"{path!r} lies outside {self.workspace} and the skills' folders; read files there",
            )
        return real

    def open(self, real: Path) -> int:
        """A descriptor of a resolved path."""
        try:
            return _descend(real)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise PathRefused(
                "NOT_FOUND", f"there is no {real}; ListFiles on {_there(real)} shows what is there"
            ) from error
        except PermissionError as error:
            raise PathRefused(
                "PERMISSION_DENIED", f"the system does not let {real} be read; read another file, or go on without it"
            ) from error
        except OSError as error:
            raise PathRefused(
                "EXECUTION_ERROR", f"{real} cannot be opened: {error.strerror or error}; go on without it"
            ) from error

    def _holds(self, given: Path, real: Path) -> bool:
        for root in (self.workspace, *self.extra):
            if real.is_relative_to(os.path.realpath(root)):
                return True
        # Resolving thousands of skills' folders would be slow: only those that the path itself names are.
        folders = {str(folder) for folder in self.folders()}
        named = [str(p) for path in (given, real) for p in (path, *path.parents) if str(p) in folders]
        return any(real.is_relative_to(os.path.realpath(folder)) for folder in named)


def _there(path: Path) -> Path:
    """The nearest folder above a path that does exist."""
    return next(folder for folder in path.parents if folder.is_dir() or folder == folder.parent)


def of(registry: Registry, extra: Sequence[Path] = ()) -> ReadableRoots:
    """The roots of a registry's workspace and of the skills that count."""
    return ReadableRoots(registry.workspace, lambda: [skill.base_dir for skill in registry.list_skills()], extra)


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
