"""`goalwright rerun`: run part of an earlier run again, as a new run."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import execution, options, stdin
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.recorded_run import open_recorded
from goalwright.interfaces.cli.view import output, result_target
from goalwright_planner.plan.task_id import parent_of
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.stored.rerun import RerunPlan

_FORMS = {"--use": ("NAME=PATH", "code-review=drafts/code-review"), "--input": ("TASK=FILE", "survey=survey.md")}


@click.command(cls=SectionedCommand)
@click.argument("run")
@click.option(
    "--from", "begin", multiple=True, metavar="TASK", help="Run this task and its dependents again (repeatable)."
)
@click.option(
    "--use", "use", multiple=True, metavar="NAME=PATH", help="Use the skill at PATH instead of NAME (repeatable)."
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="TASK=FILE",
    help="Use FILE (`-`: stdin) as the output of TASK (repeatable).",
)
@click.option("--dry-run", is_flag=True, help="Show which results would be reused, without calling a model.")
@options.powers
@result_target.output_option
@options.trust
@options.approve_all
@options.models
@options.journal
@options.common
def rerun(
    run: str,
    workspace: Path,
    target: ResultTarget | None,
    begin: tuple[str, ...],
    use: tuple[str, ...],
    inputs: tuple[str, ...],
    flags: SettingFlags,
    mode: OutputMode,
    *,
    dry_run: bool,
    trust: bool,
    approve_all: bool,
) -> int:
    """Run part of an earlier run again, as a new run.

    The tasks named with --from, their dependents and all tasks without a result run again; the other results of RUN are
    reused. Try another model or skill with --model and --use.

    \b
    Examples:
      goalwright rerun last --from brief --model openai/gpt-6.1-sol
      goalwright rerun last --from survey --use cataloging-apis=drafts/cataloging-apis
      goalwright rerun last --input survey=survey.md --dry-run
      goalwright rerun last --from "review[3]"

    Exit status: see `goalwright run --help`.
    """
    from goalwright.interfaces.cli.dialogs import trust_prompt

    substitutes = {name: Path(path) for name, path in _pairs("--use", use).items()}
    outputs = {task: _read(path, task) for task, path in _pairs("--input", inputs).items()}
    if not begin and not outputs:
        hint = "name one with --from, or give its output with --input; `goalwright trace show` lists the tasks"
        raise InputError("no task was named", hint=hint)
    if target is not None:
        target.check()
    goalwright, parent = open_recorded(run, workspace, flags, mode, trust=trust, use=substitutes, calls=not dry_run)
    rerun_plan = goalwright.plan_rerun(parent.run_id, begin, outputs)
    if dry_run:
        goalwright.workspace.skills.active()  # raises if --use names an unknown skill
        asyncio.run(goalwright.close())
        return _preview(parent.run_id, rerun_plan, mode)
    trust_prompt.trust_tools(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    trust_prompt.trust_mcp(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    running = partial(goalwright.rerun, parent.run_id, rerun_plan)
    new_run = execution.run_with_progress(goalwright, mode, running, approve_all=approve_all, target=target)
    return execution.run_to_exit(new_run, execution.ResultOutput(mode, workspace, target, settings=goalwright.settings))


def _preview(parent: str, rerun_plan: RerunPlan, mode: OutputMode) -> int:
    if mode.as_json:
        output.print_json({"parent": parent} | rerun_plan.to_dict())
        return 0
    for task in rerun_plan.plan.tasks:
        source = rerun_plan.reused.get(task.id)
        if source is None:
            output.print_text(f"executed  {task.id}")
        else:
            same = ", if it is the same item" if parent_of(task.id) in rerun_plan.executed else ""
            output.print_text(f"reused    {task.id}  (from {source[1]}{same})")
    return 0


def _pairs(flag: str, values: tuple[str, ...]) -> dict[str, str]:
    form, example = _FORMS[flag]
    pairs = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{flag} {text} is not of the form {form}", hint=f"for example: {flag} {example}")
        pairs[name] = value
    return pairs


def _read(path: str, task: str) -> str:
    if path == "-":
        return stdin.stdin_text(f"the output of {task}")
    try:
        return untrusted_files.read_given_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"--input: {path} cannot be read: {why}", hint="name a text file") from error
