"""Installs a program: fetches its parts, checks that it starts, and moves it into place in one step."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from goalwright.models.local.backends.archives import FetchOptions, lay
from goalwright.models.local.backends.choose import fetchable
from goalwright.models.local.downloads.progress import Progress, Report, megabytes, quiet
from goalwright.models.local.errors import PullError
from goalwright_skills import file_lock

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.models.local.backends.backend import Backend
    from goalwright.models.local.backends.catalogue import ProgramEntry

_START_SECONDS = 60


def install(
    entry: ProgramEntry,
    root: Path,
    report: Report = quiet,
    options: FetchOptions = FetchOptions(),  # noqa: B008 (frozen)
) -> Backend:
    """Install the program in the folder of models, unless it is installed."""
    partial = root / ".partial" / entry.folder(root).name
    note = f"another process is fetching {entry.name}; waiting for it"
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        with file_lock.hold(partial.with_suffix(".lock"), lambda: report(Progress("waiting", 0, entry.bytes, note))):
            return entry.installed(root) or _install(entry, root, partial, report, options)
    except OSError as error:
        raise PullError(
            f"{entry.name} could not be put into {root} ({error.strerror or error})",
            hint="Free some space, or set GOALWRIGHT_MODELS_DIR to a folder you can write to.",
        ) from error


def _install(entry: ProgramEntry, root: Path, partial: Path, report: Report, options: FetchOptions) -> Backend:
    report(Progress("source", 0, entry.bytes, f"fetching {entry.name} for this processor, {megabytes(entry.bytes)}"))
    shutil.rmtree(partial, ignore_errors=True)
    folder = partial / "files"
    folder.mkdir(parents=True)
    try:
        done = 0
        for number, part in enumerate(entry.parts):
            lay(part, folder, partial / f"part-{number}", report, options)
            done += part.bytes
            report(Progress("download", done, entry.bytes))
        for name, target in entry.links.items():
            (folder / name).symlink_to(target)
        if problem := fault(folder / entry.program):
            raise PullError(f"{entry.program} does not start on this machine ({problem})")
        destination = entry.folder(root)
        destination.parent.mkdir(exist_ok=True)
        folder.rename(destination)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    report(Progress("done", entry.bytes, entry.bytes))
    installed = entry.installed(root)
    assert installed is not None  # noqa: S101 - it was just moved there
    return installed


def fault(program: Path) -> str:
    """Why the program does not start here, such as a missing library or a noexec disk; empty if it starts."""
    try:
        ran = subprocess.run(
            [program, "--version"],
            cwd=program.parent,
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return f"status {ran.returncode}: {ran.stderr.strip()[-300:]}" if ran.returncode else ""


def install_faster(root: Path, report: Report = quiet, options: FetchOptions = FetchOptions()) -> Backend | None:  # noqa: B008
    """Install a faster program for this machine, if there is one; a failure is only reported."""
    entry = fetchable()
    if entry is None:
        return None
    try:
        return install(entry, root, report, options)
    except PullError as error:
        slower = "local models run without it, only slower"
        report(Progress("failed", 0, entry.bytes, f"{error.message}; {slower}"))
        return None
