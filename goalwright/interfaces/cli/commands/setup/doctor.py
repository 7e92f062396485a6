"""`goalwright doctor`: check the machine and the workspace."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output, width
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.doctor.checks import Check

_INDENT = 14
_MARKS = {True: "ok", False: "!!", None: "--"}


@click.command()
@options.checked_model
@click.option(
    "--engine", type=click.Choice(["ray"]), help="Also check the requirements of `goalwright batch --engine ray`."
)
@options.journal
@options.common
def doctor(workspace: Path, engine: str | None, flags: SettingFlags, mode: OutputMode) -> int:
    """Check models, keys, settings, skills and the sandbox.

    Reports missing requirements and how to fix them. No model is called and nothing is changed.

    \b
    Examples:
      goalwright doctor
      goalwright doctor --model anthropic/claude-sonnet-5-5    # is its key set?
      goalwright doctor --engine ray                           # can batches run on Ray?

    Exit status: 0 ready to run a goal, 4 something required is missing.
    """
    from goalwright.interfaces.doctor import checks
    from goalwright.models.litellm import stored_keys
    from goalwright.settings.resolve import resolve_without_files
    from goalwright.workspace.workspace import Workspace

    where = configuration.paths(workspace)
    results: list[Check] = []
    try:
        resolved = configuration.settings(where, flags, quiet=True)
    except SetupError as error:
        results.append(checks.settings_fault(error))
        resolved = resolve_without_files(flags.given(), os.environ)
    with suppress(SetupError):  # the check of the keys reports it
        stored_keys.load(os.environ)
    results += checks.run_checks(where, resolved, Workspace(where, resolved.settings), os.environ)
    if engine is not None:
        from goalwright.interfaces.doctor.ray_checks import run_ray_checks

        results += run_ray_checks(where, resolved.settings, os.environ)
    if mode.as_json:
        output.print_json([asdict(check) for check in results])
    else:
        for check in results:
            if not mode.quiet or check.ok is False:
                _print(check)
    return 4 if any(check.prevents_runs for check in results) else 0


def _print(check: Check) -> None:
    max_width = width.of(sys.stdout)
    output.print_text(width.wrap(f"{_MARKS[check.ok]}  {check.topic:<9} {check.found}", max_width, _INDENT))
    if check.remedy:
        output.print_text(width.wrap(f"{' ' * _INDENT}→ {check.remedy}", max_width, _INDENT + 2))
