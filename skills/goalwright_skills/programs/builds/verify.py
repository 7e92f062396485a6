"""Checks on a finished build: only this user's files and folders, and links that stay inside."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.programs.build_cache import BuildError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_REMEDY = "remove the package that brings it from the tool's requirements"


def verify(folder: Path, allowed: Collection[str] = ()) -> None:
    """Raise BuildError if a build contains a forbidden entry; links may also point to the `allowed` real paths."""
    root = os.path.realpath(folder)
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as iterator:
            entries = list(iterator)
        for entry in entries:
            fault = _fault(entry, root, allowed)
            if fault:
                raise BuildError(f"{entry.path} {fault}, which is not allowed in a build", hint=_REMEDY)
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)


def read_text(path: Path) -> str | None:
    """Read a file with build instructions; None if it does not exist. Links are refused: errors quote the content."""
    if path.is_symlink():
        raise BuildError(f"{path} is a link", hint="copy the file that it leads to into its place")
    try:
        return untrusted_files.read_text(path)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise BuildError(f"{path} is not UTF-8 text ({error.reason})", hint="save it as UTF-8") from error


def _fault(entry: os.DirEntry[str], root: str, allowed: Collection[str]) -> str:
    status = entry.stat(follow_symlinks=False)
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}"
    if stat.S_ISLNK(status.st_mode):
        target = os.path.realpath(entry.path)
        return "" if _within(target, root) or target in allowed else f"is a link to {target}"
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return "is neither a file nor a folder"
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "is a program that runs as another user"
    return ""


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root + os.sep)
