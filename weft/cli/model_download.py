"""Fetching a local model, with a bar on a terminal and a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from weft.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress as Bar

    from weft.local.progress import Progress, Report

_EVERY = 5.0


def offer(names: Sequence[str], *, yes: bool, quiet: bool) -> None:
    """Fetch the local models among these that are not here yet, after asking; without anyone to ask, say how."""
    from weft.local import catalogue, model
    from weft.local.progress import megabytes
    from weft.local.pull import pull
    from weft.local.store import ModelStore, models_dir
    from weft.settings.default_model import is_local

    store = ModelStore(models_dir())
    for name in (model.entry_name(name) for name in names if is_local(name)):
        if store.find(name) is not None:
            continue
        if name not in {entry.name for entry in catalogue.read().entries}:
            model.installed(f"local/{name}")  # raises, and says which there are
        entry = catalogue.read().find(name)
        question = f"{entry.title} ({megabytes(entry.bytes)}, {entry.licence}) is not here yet. Fetch it?"
        person = sys.stdin.isatty() and output.is_terminal()
        if not yes and not (person and click.confirm(question, default=True, err=True)):
            model.installed(f"local/{name}")  # raises, and says how to get it
        if not quiet:
            output.say(
                f"fetching {entry.title} ({megabytes(entry.bytes)}, {entry.licence}); its SHA-256 decides what is kept"
            )
        with reporting(quiet=quiet) as report:
            pull(name, store=store, report=report)


@contextmanager
def reporting(*, quiet: bool) -> Iterator[Report]:
    """Where a pull reports how far it has come; one that is interrupted says what becomes of it."""
    try:
        with _reporting(quiet=quiet) as report:
            yield report
    except KeyboardInterrupt:
        output.say("\nWhat came is kept; the same command goes on from there.")
        raise


@contextmanager
def _reporting(*, quiet: bool) -> Iterator[Report]:
    if quiet:
        yield lambda _: None
    elif output.is_terminal():
        with _bar() as bar:
            task = bar.add_task("fetching", total=None)
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
    words = {"download": "fetching", "check": "checking", "done": "done"}
    name = words.get(progress.stage)
    if name is not None:
        bar.update(task, description=name, completed=progress.done, total=progress.total or None)  # type: ignore[arg-type]


class _Lines:
    """A line for each stage, and one every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note(self, progress: Progress) -> None:
        """Say how far it is, not too often."""
        from weft.local.progress import megabytes

        if progress.note:
            output.say(progress.note)
        elif progress.stage in ("download", "check") and time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            of = f" of {megabytes(progress.total)}" if progress.total else ""
            output.say(f"{'fetched' if progress.stage == 'download' else 'checked'} {megabytes(progress.done)}{of}")
