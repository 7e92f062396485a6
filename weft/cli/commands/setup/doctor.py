"""`weft doctor`: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from skills.errors import SetupError
from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

_MARKS = {True: "ok", False: "!!", None: "--"}


@click.command()
@click.option("--model", metavar="NAME", help="Check as if this model were named.")
@options.common
def doctor(workspace: Path, model: str | None, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Look at models and keys, settings, skills, prompts, confinement and stores; no call is made.

    \b
    Examples:
      weft doctor
      weft doctor --model anthropic/claude-sonnet-4-5    is its key there?

    Exit status: 0 a goal can be run, 4 something that it needs is missing.
    """
    from weft.doctor.checks import Check, run_checks
    from weft.settings.settings import Resolved, Settings
    from weft.workspace.workspace import Workspace

    where = options.paths(workspace)
    broken: list[Check] = []
    try:
        resolved = options.settings(where, {"model": model}, quiet=True)
    except SetupError as error:
        broken = [Check("settings", False, error.message, "mend the file; what follows is without it")]
        resolved = Resolved(Settings(model=model), {})
    findings = [*broken, *run_checks(where, resolved, Workspace(where, resolved.settings), os.environ)]
    needed = ("model", "packages", "prompts", "settings", "store")
    missing = any(one.ok is False and one.topic in needed for one in findings)
    if as_json:
        output.print_json([asdict(one) for one in findings])
        return 4 if missing else 0
    for one in findings:
        if not quiet or one.ok is False:
            output.print_text(f"{_MARKS[one.ok]}  {one.topic:<9} {one.found}")
            if one.remedy:
                output.print_text(f"                → {one.remedy}")
    return 4 if missing else 0
