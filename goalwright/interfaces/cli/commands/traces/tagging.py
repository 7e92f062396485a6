"""`goalwright trace tag`, `untag` and `note`: say something about a recorded run."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.settings.paths import Paths
    from goalwright_executor.journal.journal import Journal
    from goalwright_executor.stores.row import RunSummary


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("tags", nargs=-1, required=True, metavar="TEXT...")
@options.journal
@options.common
def tag(run: str, tags: tuple[str, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Tag a run, to find it by `goalwright trace list --tag`.

    RUN is a run's id, a prefix of it, or `last`. A tag is one line of up to 60 characters.

    \b
    Examples:
      goalwright trace tag last baseline
      goalwright trace tag 20261115T0213 "to review" redis --json

    Exit status: 0 done, 2 no such run, not a tag, or the run is being worked on.
    """
    return _tag(run, lambda has: (*has, *tags), workspace, flags, mode)


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("tags", nargs=-1, required=True, metavar="TEXT...")
@options.journal
@options.common
def untag(run: str, tags: tuple[str, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Take tags from a run.

    \b
    Examples:
      goalwright trace untag last baseline
      goalwright trace untag last "to review" redis --json

    Exit status: 0 done, 2 no such run, or it is being worked on.
    """
    return _tag(run, lambda has: [one for one in has if one not in tags], workspace, flags, mode)


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("text", metavar="TEXT")
@options.journal
@options.common
def note(run: str, text: str, workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Write a note about a run, in place of an earlier one.

    TEXT may be `-` for stdin; an empty one takes the note away.

    \b
    Examples:
      goalwright trace note last "The one that the report is made of."
      goalwright trace note last ""

    Exit status: 0 done, 2 no such run, too long, or the run is being worked on.
    """
    from goalwright.traces import tagging

    text = stdin.stdin_text("the note").rstrip("\r\n") if text == "-" else text
    done = _say(run, lambda opened, where, run_id: tagging.write_note(opened, where, run_id, text), workspace, flags)
    return _show(done, mode, f"{done.run_id}: {done.note or 'no note'}")


def _tag(
    run: str,
    change: Callable[[tuple[str, ...]], list[str] | tuple[str, ...]],
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
) -> int:
    from goalwright.traces import tagging

    done = _say(run, lambda opened, where, run_id: tagging.retag(opened, where, run_id, change), workspace, flags)
    return _show(done, mode, f"{done.run_id}: {', '.join(done.tags) or 'no tags'}")


def _say(
    run: str,
    work: Callable[[Journal, Paths, str], Awaitable[RunSummary]],
    workspace: Path,
    flags: SettingFlags,
) -> RunSummary:
    from goalwright.runs.stored import records

    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.recorded_runs(where, settings)) as store:  # which makes no journal where there is none
        run_id = store.find(run).run_id
    with closing(records.open_journal(where, settings)) as opened:

        async def said() -> RunSummary:
            return await work(opened, where, run_id)

        return asyncio.run(said())


def _show(run: RunSummary, mode: OutputMode, text: str) -> int:
    output.show(mode, {"run_id": run.run_id, "tags": list(run.tags), "note": run.note}, text)
    return 0
