"""`goalwright run`: plan and run a goal."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, execution, goal_source, options, stdin
from goalwright.interfaces.cli.dialogs import recipe_trust
from goalwright.interfaces.cli.view import output, result_target

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.goal_source import SourceFlags
    from goalwright.interfaces.cli.options import GoalFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget


@click.command()
@click.argument("goal", required=False)
@click.argument("values", nargs=-1, metavar="")
@options.models
@options.yes
@options.skills
@options.tools
@options.approve_all
@options.goal
@goal_source.source
@options.concurrency
@options.cache
@options.stream_plan
@options.replans
@options.powers
@options.changes
@result_target.output_option
@options.journal
@options.common
def run(
    goal: str | None,
    values: tuple[str, ...],
    workspace: Path,
    goal_flags: GoalFlags,
    target: ResultTarget | None,
    source: SourceFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Plan and run a goal, then print the answer.

    Selects the skills that fit GOAL, plans a task graph, runs the tasks in parallel and writes the answer. `-` reads
    the goal from stdin.

    \b
    Examples:
      goalwright run "Write API documentation for the to-do service"
      goalwright run --model openai/gpt-4o --fallback anthropic/claude-sonnet-4-5 "Compare three caches"
      goalwright run --file notes.md --max-cost 0.50 -o report.md "Turn my notes into a weekly report"
      goalwright run --write "Rename the option --colour to --color"
      goalwright run --dry-run "Review the code in src/"
      goalwright run --review "Compare three caches"
      goalwright run --after last "Now shorten it to a page"
      goalwright run --plan plan.yaml --cache 7
      goalwright run --recipe weekly-report team=design file=log.md
      goalwright run --without hn-analysis -c max_tasks=5 "Compare three caches"
      echo "Summarise the news" | goalwright run --json -

    On a terminal, goalwright asks for approvals and answers at once; elsewhere the run waits, and `goalwright approvals` lists what
    it is waiting for.

    Exit status: 0 done; 1 failed, or done in part; 2 wrong usage or input; 4 no model or key; 5 stopped by a budget or
    limit; 6 waiting for your answer; 130 interrupted.
    """
    from goalwright.interfaces.cli import model_download, warm_up
    from goalwright.interfaces.cli.commands.runs.run_preview import show_preview
    from goalwright.interfaces.cli.dialogs import first_model, plan_review, trust_prompt
    from goalwright.runs.goal import NO_GOAL, Goal
    from goalwright.runs.runtime import Goalwright

    source.check(goal, values, mode)
    dry_run, plan_file = source.dry_run, source.plan_file
    if target is not None:
        target.check()
    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    if not dry_run and plan_file is None:
        yes = first_model.offer(resolved.settings, mode, yes=yes)
    open_model = None if dry_run else warm_up.begin(resolved.settings, where)
    goalwright = Goalwright(workspace, resolved.settings, open_model=open_model)
    if not dry_run:  # before a plan is read: it may name their tools
        trust_prompt.trust_mcp(goalwright.workspace.tools, trust=trust, quiet=mode.quiet, warn=plan_file is not None)
    if trust:
        recipe_trust.trust_all(goalwright.recipes)
    full_goal = Goal(
        NO_GOAL if source.recipe is not None or (goal is None and plan_file is not None) else stdin.goal_text(goal),
        skills=goal_flags.skills,
        files=goal_flags.files,
        answers=goal_flags.answers,
        stream=not mode.as_json and output.is_terminal() and sys.stdout.isatty(),
    )
    full_goal = source.added_to(full_goal, goalwright, (goal, *values) if goal is not None else (), mode)
    if mode.verbose:
        for note in goalwright.workspace.tools.notes():
            output.say(note)
    if dry_run:
        return show_preview(goalwright, full_goal, mode)
    configuration.announce_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.trust_tools(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    goalwright.workspace.check(full_goal)
    if goalwright.models.needed_for(full_goal.plan):
        yes = first_model.offer(goalwright.settings, mode, yes=yes) if plan_file is not None else yes
        warm_up.check_keys(goalwright.settings)
        model_download.offer(goalwright.models.names, yes=yes, quiet=mode.quiet)
    reviewed = partial(plan_review.reviewed_run, goalwright, full_goal) if source.review else None
    run_goal = partial(goalwright.run, full_goal)
    running = execution.run_with_progress(
        goalwright, mode, run_goal, approve_all=approve_all, reviewed=reviewed, target=target
    )
    return execution.run_to_exit(running, execution.ResultOutput(mode, workspace, target, goalwright.settings))
