"""Files in a run's artifacts: left there by a program, or kept because an output is too long for a model."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import stat
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.hidden_paths import is_hidden_name
from goalwright_skills.text.untrusted import steers
from goalwright_skills.tools.envelope import TEXT_LIMIT, Envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from goalwright_skills.tools.disk_use import DiskLimits
    from goalwright_skills.tools.envelope import Context


MOST_FILES = 10_000
_ENTRIES = 20_000
_DEEPEST = 100  # nested folders

Stamps = dict[str, tuple[int, int, int]]


def stamps(folder: Path | None, *, hidden: bool = False) -> Stamps:
    """Return the regular files below a folder with inode, size and modification time.

    Links are skipped. Hidden names and names with control characters are skipped too, unless `hidden` is true, because
    later prompts and terminals show the names.
    """
    if folder is None:
        return {}
    files: Stamps = {}
    for path in _files(str(folder), "", 0, hidden=hidden):
        try:
            status = os.lstat(f"{folder}/{path}")
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            files[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
        if len(files) >= _ENTRIES:
            break
    return files


async def hashed_since(folder: Path | None, before: Stamps) -> list[dict[str, Any]]:
    """Hash the files that are new or changed, in a thread that stops if this call is cancelled."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(left_since, folder, before, stop.is_set)
    finally:
        stop.set()


def left_since(
    folder: Path | None, before: Mapping[str, tuple[int, int, int]], stopped: Callable[[], bool] = lambda: False
) -> list[dict[str, Any]]:
    """Return path, size and hash of the files that are new or changed, as envelopes list them."""
    if folder is None:
        return []
    changed = sorted(path for path, stamp in stamps(folder).items() if before.get(path) != stamp)
    rows = (_row(folder, path, stopped) for path in changed[:MOST_FILES])
    return [row for row in rows if row is not None]


def remove_new(folder: Path | None, before: Stamps) -> None:
    """Remove everything that is new, including hidden files, links and folders, after a call exceeded its limits."""
    if folder is not None:
        safe_files.remove_all_but(folder, before)


def kept_row(name: str, content: bytes) -> dict[str, Any]:
    """Return path, size and hash of a file that goalwright itself wrote, as envelopes list it."""
    return {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def with_artifacts(envelope: Envelope, rows: Sequence[Mapping[str, Any]]) -> Envelope:
    """Return the envelope with these files added to its artifacts."""
    if not rows:
        return envelope
    by_path = {row["path"]: row for row in (*envelope.data.get("artifacts", ()), *rows)}
    return replace(envelope, data={**envelope.data, "artifacts": [by_path[path] for path in sorted(by_path)]})


def _files(folder: str, prefix: str, depth: int, *, hidden: bool) -> Iterator[str]:
    try:
        with os.scandir(f"{folder}/{prefix}") as entries:
            children = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for name, is_folder in children:
        if not hidden and (is_hidden_name(name) or steers(name)):
            continue
        if is_folder and depth < _DEEPEST:
            yield from _files(folder, f"{prefix}{name}/", depth + 1, hidden=hidden)
        elif not is_folder:
            yield f"{prefix}{name}"


def _row(folder: Path, path: str, stopped: Callable[[], bool]) -> dict[str, Any] | None:
    digest, size = hashlib.sha256(), 0
    try:
        path.encode()
        handle = os.open(folder / path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, UnicodeEncodeError):
        return None
    with os.fdopen(handle, "rb") as file:
        while part := file.read(1024**2):
            if stopped():
                return None
            digest.update(part)
            size += len(part)
    return {"path": path, "bytes": size, "sha256": digest.hexdigest()}


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output: its text, and its value if the output is JSON other than a string."""

    tool: str
    text: str
    value: Any = None

    def envelope(self, context: Context, artifacts: Path | None, time_ms: int, disk: DiskLimits) -> Envelope:
        """Return the envelope of the output; long output is truncated and saved."""
        if len(self.text) <= TEXT_LIMIT:
            data = {} if self.value is None else {"output": self.value}
            return Envelope("success", self.text, context, data, time_ms=time_ms)
        kept = keep(self.text, self.tool, artifacts, Path(context.cwd), disk)
        data = {"characters": len(self.text), "artifact": kept.path} | kept.note
        envelope = Envelope("partial", self.text[:TEXT_LIMIT], context, data, time_ms=time_ms)
        return with_artifacts(envelope, kept.rows)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file written into a run's artifacts with its envelope rows, or the reason why none was written."""

    path: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
    why_not: str = ""

    @property
    def note(self) -> dict[str, str]:
        """The entry in an envelope's data for a file that was not kept."""
        return {"not_kept": self.why_not} if self.why_not else {}


def keep(
    data: str | bytes,
    tool: str,
    artifacts: Path | None,
    workspace: Path,
    disk: DiskLimits,
    suffix: str = ".txt",
) -> Kept:
    """Write a tool's output to a new file in the artifacts, if the run has artifacts and disk space left."""
    if artifacts is None:
        return Kept(why_not="this call has no artifacts")
    path = artifacts / f"{tool}-{secrets.token_hex(4)}{suffix}"
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if full := disk.exceeded_with(path, len(content), artifacts):
        return Kept(why_not=f"the run's files would have {full}")
    safe_files.write(path, content, below=safe_files.anchor(artifacts, workspace))
    return Kept(str(path), (kept_row(path.name, content),))
