"""`goalwright skills improve`: let a model change a skill, and test the change on held-out cases."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, execution, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.commands.evaluations import eval_flags
from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.text.formatting import dollars

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.evaluation.improve.improve import Improvement, Improver
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import LimitFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode

_REPEAT = 3


@click.command("improve", cls=SectionedCommand)
@click.argument("name")
@click.option(
    "--cases", multiple=True, metavar="FILE", help="File of cases, or `-` (default: the skill's evals/evals.json)."
)
@click.option(
    "--rounds", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Try at most N proposals."
)
@click.option(
    "--max-lines", type=click.IntRange(1), default=40, show_default=True, metavar="N", help="Change at most N lines."
)
@click.option("--description", is_flag=True, help="Let the description change, too.")
@click.option("--apply", is_flag=True, help="Show an accepted change, and write it if you agree.")
@click.option(
    "--repeat", type=click.IntRange(1), default=_REPEAT, show_default=True, metavar="N", help="Run each case N times."
)
@eval_flags.judge
@eval_flags.limits
@click.option("--yes", is_flag=True, help="Do not ask about the change or a missing --max-cost.")
@options.trust
@options.approve_all
@options.journal
@options.common
def improve(
    name: str,
    workspace: Path,
    cases: tuple[str, ...],
    rounds: int,
    max_lines: int,
    repeat: int,
    judge: str | None,
    limit_flags: LimitFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    description: bool,
    apply: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Let a model improve a skill, and test the change.

    The model changes one place of the skill NAME in each round. It sees two thirds of the cases; a change is accepted
    only if more of the held-out third pass, and none of these that always passed fails every time. The skill is not
    changed without --apply.

    \b
    Examples:
      goalwright skills improve release-notes --cases cases.jsonl --max-cost 2
      goalwright skills improve release-notes --cases cases.jsonl --max-cost 2 --rounds 5 --apply

    Exit status: 0 with or without an accepted change; 2 wrong usage or input, fewer than 9 cases with checks, or a
    SKILL.md that was edited meanwhile; 4 no model or key; 5 stopped by the budget; 130 interrupted.
    """
    from goalwright.batch.options import batch_settings
    from goalwright.evaluation.case_files import read_cases
    from goalwright.evaluation.evaluate import EvaluationOptions
    from goalwright.evaluation.improve.improve import ImproveOptions, Improver, split
    from goalwright.evaluation.versions import check_replaceable, find_skill
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright.runs.runtime import Goalwright

    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    goalwright = Goalwright(workspace, batch_settings(configuration.settings(where, flags, quiet=mode.quiet)))
    skill = find_skill(goalwright.workspace.skills, name)
    check_replaceable(skill)
    if apply and skill.source == "bundled":
        raise InputError(f"{name} ships with goalwright, and is not changed", hint="copy its folder to skills/ first")
    all_cases = read_cases(cases or [skill.base_dir])
    split(all_cases)  # raises if there are too few cases
    _check_cost(limit_flags.max_cost, yes=yes)
    batch = limit_flags.options(approve_all=approve_all)
    chosen = EvaluationOptions(repeat, judge, trust=trust, batch=batch)
    say = (lambda _: None) if mode.quiet else output.say
    improver = Improver(goalwright, skill, all_cases, ImproveOptions(rounds, max_lines, description, chosen), say)
    result = asyncio.run(_improved(improver, mode))
    _show(result, mode)
    return _apply(result, mode, yes=yes) if apply and result.patch is not None else 0


def _check_cost(max_cost: float | None, *, yes: bool) -> None:
    if max_cost is None and not terminal.confirmed("No --max-cost is given. Run without a limit?", yes=yes):
        raise InputError("--max-cost is missing: evaluations can be expensive", hint="add --max-cost or --yes")


async def _improved(improver: Improver, mode: OutputMode) -> Improvement:
    """Improve the skill; exits the program if interrupted."""
    from goalwright.evaluation.errors import Interrupted
    from goalwright.interfaces.cli.commands.batches.run import stop_on_signals
    from goalwright_planner.errors import BudgetSpent

    stop_on_signals(improver)
    try:
        async with improver.goalwright:
            return await improver.improve()
    except BudgetSpent as error:
        hint = f"{hint_for(error)}, with --resume: finished runs are not paid for again"
        raise BudgetSpent(error.message, hint=hint) from error
    except Interrupted as error:
        status = error.exit_status
        output.say_error(error.message, hint_for(error), code=error.code, status=status, as_json=mode.as_json)
        execution.exit_now(status)
        raise


def _show(result: Improvement, mode: OutputMode) -> None:
    document = result.to_dict()
    if mode.as_json:
        output.print_json(document)
        return
    for number, one in enumerate(document["rounds"], 1):
        verdict = "accepted" if one["accepted"] else f"refused by {one['gate']}"
        output.print_text(f"round {number}: {verdict}: {one['reason']}")
    for key, words in (("working", "working cases"), ("held_out", "held-out cases")):
        before, after = document[key]["before"], document[key]["after"]
        output.print_text(f"{words}: {before:.2f} before" + ("" if after is None else f", {after:.2f} after"))
    cost = "unknown" if document["cost_usd"] is None else dollars(document["cost_usd"])
    output.print_text(f"cost: {cost}")
    output.print_result(document["patch"] or "No change was accepted.")


def _apply(result: Improvement, mode: OutputMode, *, yes: bool) -> int:
    """Show the change, and write it if the user agrees; returns the exit status."""
    if mode.as_json or mode.quiet:
        output.say(result.patch or "")
    if not terminal.confirmed(f"Write this change to {result.file}?", yes=yes):
        output.say("Not written: not confirmed. --yes confirms in advance.")
        return 0
    try:
        result.write()
    except (GoalwrightError, OSError) as error:  # the report is printed, and stdout has one document
        status = error.exit_status if isinstance(error, GoalwrightError) else 1
        hint = "the report has the change as a patch"
        return output.say_error(f"not written: {error}", hint, code="", status=status, as_json=False)
    output.say(f"wrote {result.file}")
    return 0
