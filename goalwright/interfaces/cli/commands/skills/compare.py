"""`goalwright skills compare`: measure whether a skill, or a change to it, helps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.commands.batches import batch_flags
from goalwright.interfaces.cli.commands.evaluations import eval_flags
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.evaluation.preview import VariantPreview
    from goalwright.interfaces.cli.commands.batches.batch_flags import ClusterFlags
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags, LimitFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode

_SHOWN = 10
_WIDTH = 80


@click.command("compare", cls=SectionedCommand)
@click.argument("name")
@click.option(
    "--cases", multiple=True, metavar="FILE", help="File of cases, or `-` (default: the skill's evals/evals.json)."
)
@click.option("--old", metavar="PATH|GIT-REF", help="Compare with this version (default: without the skill).")
@click.option("--free", is_flag=True, help="Only show the effects that need no model call.")
@click.option("--repeat", type=click.IntRange(1), metavar="N", help="Run each case N times (default: 3).")
@eval_flags.judge
@eval_flags.pairwise
@eval_flags.reported
@eval_flags.limits
@batch_flags.cluster
@options.yes
@options.trust
@options.powers
@options.approve_all
@options.journal
@options.common
def compare(
    name: str,
    workspace: Path,
    cases: tuple[str, ...],
    old: str | None,
    repeat: int | None,
    judge: str | None,
    html: Path | None,
    limit_flags: LimitFlags,
    check_flags: CheckFlags,
    cluster_flags: ClusterFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    free: bool,
    pairwise: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Measure whether a skill, or a change to it, helps.

    Runs the cases without the skill NAME and with it, or with its old and its new version. Before the first call, it
    prints the recorded goals that would select other skills, and the recorded tasks whose prompts would change.

    \b
    Examples:
      goalwright skills compare release-notes --cases cases.jsonl
      goalwright skills compare release-notes --old HEAD~1
      goalwright skills compare release-notes --old ../backup/release-notes --free

    Exit status: see `goalwright eval run --help`.
    """
    from goalwright.batch.options import batch_settings
    from goalwright.evaluation.evaluate import EvaluationOptions, open_evaluation
    from goalwright.evaluation.preview import preview
    from goalwright.evaluation.versions import find_skill, skill_variants
    from goalwright.interfaces.cli.commands.evaluations.execution import run_to_exit
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright.workspace.skills import WorkspaceSkills

    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    settings = batch_settings(configuration.settings(where, flags, quiet=mode.quiet))
    skill = find_skill(WorkspaceSkills(where, settings), name)
    variants = skill_variants(skill, old, where, settings)
    free_result = asyncio.run(preview(variants[0], variants[1], name, where, settings))
    if free:
        _show_free(free_result, mode)
        return 0
    _say_free(free_result, mode)
    batch = limit_flags.options(cluster_flags.options(), approve_all=approve_all)
    chosen = EvaluationOptions(repeat, judge, pairwise, trust, batch)
    with open_evaluation(
        cases or [skill.base_dir],
        variants,
        workspace=workspace,
        settings=settings,
        options=chosen,
        flags=flags.given(),
    ) as evaluation:
        extra = {"free": free_result.to_dict()}
        return run_to_exit(evaluation, mode, check_flags, html, trust=trust, yes=yes, extra=extra)


def _show_free(free_result: VariantPreview, mode: OutputMode) -> None:
    if mode.as_json:
        output.print_json({"free": free_result.to_dict()})
    else:
        output.print_lines(_lines(free_result))


def _say_free(free_result: VariantPreview, mode: OutputMode) -> None:
    for line in _lines(free_result) if not mode.quiet else ():
        output.say(line)


def _lines(free_result: VariantPreview) -> Sequence[str]:
    changed = free_result.changed
    lines = [f"free: {len(changed)} of {counted(free_result.goals, 'recorded goal')} would select other skills"]
    for goal in changed[:_SHOWN]:
        before, after = ", ".join(goal.before) or "none", ", ".join(goal.after) or "none"
        lines.append(f"  {shorten(goal.goal, _WIDTH)}: {before} → {after}")
    lines += [f"  and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else []
    tasks = counted(free_result.tasks, "recorded task")
    return [*lines, f"free: the prompts of {tasks}, in {counted(free_result.runs, 'run')}, would change"]
