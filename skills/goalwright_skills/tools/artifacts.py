"""The files that a program left in a folder: what changed there while it ran."""

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
_DEEPEST = 100  # folders within each other

Stamps = dict[str, tuple[int, int, int]]


def stamps(folder: Path | None, *, hidden: bool = False) -> Stamps:
    """The plain files below a folder, each with what tells whether it changes.

    Links are left out and, unless wanted, `hidden` names and those with control characters: later prompts and terminals
    show the others.
    """
    if folder is None:
        return {}
    found: Stamps = {}
    for path in _files(str(folder), "", 0, hidden=hidden):
        try:
            seen = os.lstat(f"{folder}/{path}")
        except OSError:
            continue
        if stat.S_ISREG(seen.st_mode):
            found[path] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        if len(found) >= _ENTRIES:
            break
    return found


async def hashed_since(folder: Path | None, before: Stamps) -> list[dict[str, Any]]:
    """The files that are new or changed, hashed in a thread, which ends with the call that waits for it."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(left_since, folder, before, stop.is_set)
    finally:
        stop.set()


def left_since(
    folder: Path | None, before: Mapping[str, tuple[int, int, int]], stopped: Callable[[], bool] = lambda: False
) -> list[dict[str, Any]]:
    """The files that are new or changed, as envelopes name them: path, bytes and hash."""
    if folder is None:
        return []
    changed = sorted(path for path, stamp in stamps(folder).items() if before.get(path) != stamp)
    rows = (_row(folder, path, stopped) for path in changed[:MOST_FILES])
    return [row for row in rows if row is not None]


def remove_new(folder: Path | None, before: Stamps) -> None:
    """Remove all that is new, of a call that left too much: hidden files, links and folders too, however deep."""
    if folder is not None:
        safe_files.remove_all_but(folder, before)


def kept_row(name: str, content: bytes) -> dict[str, Any]:
    """A file that goalwright itself wrote into the artifacts, as envelopes name it."""
    return {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def with_artifacts(envelope: Envelope, rows: Sequence[Mapping[str, Any]]) -> Envelope:
    """The envelope, with these files among those that it names."""
    if not rows:
        return envelope
    named = {row["path"]: row for row in (*envelope.data.get("artifacts", ()), *rows)}
    return replace(envelope, data={**envelope.data, "artifacts": [named[path] for path in sorted(named)]})


def _files(folder: str, here: str, depth: int, *, hidden: bool) -> Iterator[str]:
    try:
        with os.scandir(f"{folder}/{here}") as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for name, is_folder in found:
        if not hidden and (is_hidden_name(name) or steers(name)):
            continue
        if is_folder and depth < _DEEPEST:
            yield from _files(folder, f"{here}{name}/", depth + 1, hidden=hidden)
        elif not is_folder:
            yield f"{here}{name}"


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
    """A tool's output: its text, and its value if that is JSON other than a string."""

    tool: str
    text: str
    value: Any = None

    def envelope(self, context: Context, artifacts: Path | None, time_ms: int, disk: DiskLimits) -> Envelope:
        """The output in its envelope, truncated and saved if it is too long."""
        if len(self.text) <= TEXT_LIMIT:
            data = {} if self.value is None else {"output": self.value}
            return Envelope("success", self.text, context, data, time_ms=time_ms)
        kept = keep(self.text, self.tool, artifacts, Path(context.cwd), disk)
        data = {"characters": len(self.text), "artifact": kept.path} | kept.note
        envelope = Envelope("partial", self.text[:TEXT_LIMIT], context, data, time_ms=time_ms)
        return with_artifacts(envelope, kept.rows)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that goalwright wrote into a run's artifacts: where it is and how envelopes name it, or why there is none."""

    path: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
    why_not: str = ""

    @property
    def note(self) -> dict[str, str]:
        """What an envelope's data says of a file that is not kept."""
        return {"not_kept": self.why_not} if self.why_not else {}


def keep(
    data: str | bytes,
    tool: str,
    artifacts: Path | None,
    workspace: Path,
    disk: DiskLimits,
    suffix: str = ".txt",
) -> Kept:
    """Write what a tool gave to a new file in the artifacts, if the run has any, and room for it."""
    if artifacts is None:
        return Kept(why_not="this call has no artifacts")
    path = artifacts / f"{tool}-{secrets.token_hex(4)}{suffix}"
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if full := disk.exceeded_with(path, len(content), artifacts):
        return Kept(why_not=f"the run's files would have {full}")
    safe_files.write(path, content, below=safe_files.anchor(artifacts, workspace))
    return Kept(str(path), (kept_row(path.name, content),))
