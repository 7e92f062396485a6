"""`goalwright approvals`: list the requests that runs wait for."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, request_text
from goalwright.interfaces.cli.resume_command import resume_command
from goalwright.interfaces.cli.view import output, width

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.stored.requests import OpenRequest


@click.command()
@click.argument("run", required=False)
@options.journal
@options.common
def approvals(run: str | None, workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """List the approvals and answers that runs wait for.

    RUN is a run's id, a prefix of it, or `last`; without it, all runs of the workspace are listed. Answer with
    `goalwright resume RUN` and --approve ID, --deny ID=NOTE, --edit ID=FILE or --answer ID=TEXT; a unique prefix of an
    id is enough.

    \b
    Examples:
      goalwright approvals
      goalwright approvals last --json
      goalwright resume last --approve 3fa8c1d2 --deny "77b0e4aa=not on a Friday"

    Exit status: 0 done, 2 no such run.
    """
    requests = _open_requests(workspace, flags, run)
    if mode.as_json:
        output.print_json([opened.to_dict() for opened in requests])
        return 0
    if not requests and not mode.quiet:
        output.say("No run is waiting for an answer.")
    max_width = width.of(sys.stdout)
    for run_id, group in groupby(requests, key=lambda opened: opened.run.run_id):
        waiting = list(group)
        status = "" if waiting[0].run.status == "waiting" else f" ({waiting[0].run.status})"
        output.print_text(width.cut(f"run {run_id}{status}: {' '.join(waiting[0].run.goal.split())}", max_width))
        for opened in waiting:
            output.print_lines(f"  {line}" for line in request_text.lines(opened.request, max_width))
        resume = resume_command(run_id, workspace, _journal_url(workspace, flags))
        output.print_text(f"  answer with: {request_text.command(resume, [opened.request for opened in waiting])}")
    return 0


def _open_requests(workspace: Path, flags: SettingFlags, run: str | None) -> list[OpenRequest]:
    from goalwright.runs.stored import records
    from goalwright.runs.stored.requests import open_requests

    where, settings = configuration.journal_settings(workspace, flags)
    if run is None and not settings.journal and not (where.agents / "journal.sqlite").exists():
        return []
    with closing(records.recorded_runs(where, settings)) as store:
        return open_requests(store, where, run)


def _journal_url(workspace: Path, flags: SettingFlags) -> str:
    from goalwright.runs.stored import records
    from goalwright_executor.stores.urls import without_password

    where, settings = configuration.journal_settings(workspace, flags)
    return without_password(records.url(where, settings))
