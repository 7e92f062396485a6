"""`goalwright batch`: run every goal of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.commands.batches import batch_flags
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.commands.batches.batch_flags import BatchFlags, ClusterFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode


@click.command(cls=SectionedCommand)
@click.argument("file")
@options.output_file(
    "Write one line of results for each goal to this file (required without --dry-run).", never_stdout=True
)
@batch_flags.goals_and_limits
@click.option("--dry-run", is_flag=True, help="Show the selected skills and an estimate, without a model call.")
@options.named_models
@batch_flags.budget
@options.unknown_cost
@options.setting(click.option("--timeout", type=float, metavar="SECONDS", help="Stop each goal after this time."))
@options.cache
@options.replans
@options.skill_choice
@batch_flags.cluster
@options.yes
@options.strict_skills
@options.trust
@options.powers
@options.approve_all
@options.journal
@options.common
def batch(
    file: str,
    workspace: Path,
    target: Path | None,
    batch_flags: BatchFlags,
    cluster_flags: ClusterFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    dry_run: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Run every goal of FILE (.jsonl, .txt, .csv, .yaml, .json, or `-`) and write one line of results for each.

    A line of JSONL is {"goal": "…"}, optionally with "id", "skills", "model", "vars" and "plan". The format of stdin
    (`-`) is detected. The whole file is checked before anything runs.

    \b
    Examples:
      goalwright batch goals.jsonl -o results.jsonl
      goalwright batch goals.jsonl --dry-run -v
      goalwright batch goals.txt -o results.jsonl --max-calls 64 --rpm 500 --max-cost 10
      goalwright batch goals.jsonl -o results.jsonl --resume --retry-errors
      goalwright batch goals.jsonl -o results.jsonl --resume --dry-run
      goalwright batch goals.jsonl -o again.jsonl --cache 30
      goalwright batch goals.jsonl -o results.jsonl --engine ray --workers 4

    A goal that needs your approval or answer waits, with status `waiting`, while the others continue. `goalwright
    approvals` lists the requests; answer with `goalwright resume`, then continue the batch with --resume. A setting
    that is changed with -c holds for every goal.

    Exit status: 0 all goals done, 1 some not, 2 wrong usage or input, 4 no model or key, 5 stopped by a limit,
    6 some wait for your answer and none failed, 130 interrupted.
    """
    from goalwright.batch.options import batch_settings
    from goalwright.batch.run_batch import open_batch
    from goalwright.interfaces.cli.commands.batches import run
    from goalwright.interfaces.cli.dialogs import trust_prompt

    if target is None and (batch_flags.resume or not dry_run):
        raise click.MissingParameter(param_hint="'-o' / '--output'", param_type="option")
    target = target or Path(os.devnull)  # a dry run writes no results
    chosen = batch_flags.options(cluster_flags.options(), approve_all=approve_all)
    if chosen.errors is not None and chosen.errors.absolute() == target.absolute():
        raise InputError("-o and --errors name the same file", hint="name another one, or leave --errors out")
    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    if not dry_run:
        configuration.announce_journal(where, resolved, quiet=mode.quiet)
    settings = batch_settings(resolved)
    with open_batch(
        file,
        target,
        workspace=workspace,
        settings=settings,
        options=chosen,
        flags=flags.given(),
        dry_run=dry_run,
    ) as opened:
        for key, line in opened.goals.unused.items():
            output.say_warning(f"{opened.goals.name}, line {line}: unknown key {key!r}; it is ignored")
        if dry_run:
            return run.show_preview(opened, mode)
        return run.run_to_exit(opened, mode, trust=trust, yes=yes)
