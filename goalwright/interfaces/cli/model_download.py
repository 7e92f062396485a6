"""Download local models, with a progress bar at a terminal and a line every few seconds elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress as Bar

    from goalwright.models.local.downloads.progress import Progress, Report

_INTERVAL = 5.0  # seconds


def is_missing(names: Sequence[str]) -> bool:
    """Whether one of the models is a local one that is not downloaded."""
    from goalwright.models.local import model
    from goalwright.models.local.store import ModelStore, models_dir
    from goalwright.settings.default_model import is_local

    store = ModelStore(models_dir())
    return any(store.find(model.entry_name(name)) is None for name in names if is_local(name))


def offer(names: Sequence[str], *, yes: bool, quiet: bool) -> None:
    """Ask to download the missing local models; raises if declined or without a terminal."""
    from goalwright.settings.default_model import is_local

    if local := [name for name in names if is_local(name)]:
        _offer(local, yes=yes, quiet=quiet)


def _offer(names: Sequence[str], *, yes: bool, quiet: bool) -> None:
    from goalwright.models.local import catalogue, model
    from goalwright.models.local.backends.choose import fetchable
    from goalwright.models.local.backends.install import install_faster
    from goalwright.models.local.downloads.progress import megabytes
    from goalwright.models.local.downloads.pull import pull
    from goalwright.models.local.store import ModelStore, models_dir

    store = ModelStore(models_dir())
    for name in map(model.entry_name, names):
        if store.find(name) is not None:
            continue
        if name not in {entry.name for entry in catalogue.read().entries}:
            model.installed(f"local/{name}")  # raises with the known models
        entry = catalogue.read().find(name)
        question = f"{entry.title} ({megabytes(entry.bytes)}, {entry.licence}) is not installed. Download it?"
        interactive = sys.stdin.isatty() and output.is_terminal()
        if not yes and not (interactive and click.confirm(question, default=True, err=True)):
            model.installed(f"local/{name}")  # raises with the command that installs it
        if not quiet:
            size = megabytes(entry.bytes)
            output.say(f"Downloading {entry.title} ({size}, {entry.licence}); its SHA-256 is verified")
        with reporting(quiet=quiet) as report:
            pull(name, store=store, report=report)
            install_faster(store.root, report)
    if not quiet and (program := fetchable()) is not None:
        size = megabytes(program.bytes)
        output.say(
            f"{program.name} makes local models faster on this processor: `goalwright models pull` fetches it ({size})"
        )


@contextmanager
def reporting(*, quiet: bool) -> Iterator[Report]:
    """Yield a function that shows a download's progress; reports if an interrupted download can be resumed."""
    try:
        with _reporting(quiet=quiet) as report:
            yield report
    except KeyboardInterrupt:
        output.say("\nThe partial download is kept; run the same command to resume it.")
        raise


@contextmanager
def _reporting(*, quiet: bool) -> Iterator[Report]:
    if quiet:
        yield lambda _: None
    elif output.is_terminal():
        with _bar() as bar:
            task = bar.add_task("downloading", total=None)
            yield lambda progress: _draw(bar, task, progress)
    else:
        yield _Lines().note


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console)


def _draw(bar: Bar, task: object, progress: Progress) -> None:
    if progress.note:
        bar.console.print(progress.note, highlight=False)
    descriptions = {"download": "downloading", "check": "verifying", "done": "done"}
    description = descriptions.get(progress.stage)
    if description is not None:
        bar.update(task, description=description, completed=progress.done, total=progress.total or None)  # type: ignore[arg-type]


class _Lines:
    """Print notes at once, and progress every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note(self, progress: Progress) -> None:
        """Print a note or the progress."""
        from goalwright.models.local.downloads.progress import megabytes

        if progress.note:
            output.say(progress.note)
        elif progress.stage in ("download", "check") and time.monotonic() - self._last >= _INTERVAL:
            self._last = time.monotonic()
            verb = "downloaded" if progress.stage == "download" else "verified"
            total = f" of {megabytes(progress.total)}" if progress.total else ""
            output.say(f"{verb} {megabytes(progress.done)}{total}")
