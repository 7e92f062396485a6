"""`weft run`: plan and run a goal."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from weft.cli import configuration, execution, goal_source, options, stdin
from weft.cli.dialogs import recipe_choice
from weft.cli.view import output, result_target

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.goal_source import SourceFlags
    from weft.cli.options import GoalFlags
    from weft.cli.view.output_mode import OutputMode
    from weft.cli.view.result_target import ResultTarget


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
      weft run "Write API documentation for the to-do service"
      weft run --model openai/gpt-4o --fallback anthropic/claude-sonnet-4-5 "Compare three caches"
      weft run --file notes.md --max-cost 0.50 -o report.md "Turn my notes into a weekly report"
      weft run --write "Rename the option --colour to --color"
      weft run --dry-run "Review the code in src/"
      weft run --review "Compare three caches"
      weft run --after last "Now shorten it to a page"
      weft run --plan plan.yaml --cache 7
      weft run --recipe weekly-report team=design file=log.md
      weft run --without hn-analysis -c max_tasks=5 "Compare three caches"
      echo "Summarise the news" | weft run --json -

    On a terminal, weft offers the plan of a recipe for a goal that is like it; with `recipes = "auto"` in the settings
    it is used.

    On a terminal, weft asks for approvals and answers at once; elsewhere the run waits, and `weft approvals` lists what
    it is waiting for.

    Exit status: 0 done; 1 failed, or done in part; 2 wrong usage or input; 4 no model or key; 5 stopped by a budget or
    limit; 6 waiting for your answer; 130 interrupted.
    """
    from weft.cli import model_download, warm_up
    from weft.cli.commands.runs.run_preview import show_preview
    from weft.cli.dialogs import first_model, plan_review, trust_prompt
    from weft.runs.goal import NO_GOAL, Goal
    from weft.runs.runtime import Weft

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
    weft = Weft(workspace, resolved.settings, open_model=open_model)
    if not dry_run:  # before a plan is read: it may name their tools
        trust_prompt.trust_mcp(weft.workspace.tools, trust=trust, quiet=mode.quiet, warn=plan_file is not None)
    if trust:
        recipe_choice.trust_all(weft.recipes)
    full_goal = Goal(
        NO_GOAL if source.recipe is not None or (goal is None and plan_file is not None) else stdin.goal_text(goal),
        skills=goal_flags.skills,
        files=goal_flags.files,
        answers=goal_flags.answers,
        stream=not mode.as_json and output.is_terminal() and sys.stdout.isatty(),
    )
    full_goal = source.added_to(full_goal, weft, (goal, *values) if goal is not None else (), mode)
    if source.recipe is None:
        full_goal = recipe_choice.offered(weft, full_goal, mode)
    if mode.verbose:
        for note in weft.workspace.tools.notes():
            output.say(note)
    if dry_run:
        return show_preview(weft, full_goal, mode)
    configuration.announce_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.trust_tools(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    weft.workspace.check(full_goal)
    if weft.models.needed_for(full_goal.plan):
        yes = first_model.offer(weft.settings, mode, yes=yes) if plan_file is not None else yes
        warm_up.check_keys(weft.settings)
        model_download.offer(weft.models.names, yes=yes, quiet=mode.quiet)
    reviewed = partial(plan_review.reviewed_run, weft, full_goal) if source.review else None
    run_goal = partial(weft.run, full_goal)
    running = execution.run_with_progress(
        weft, mode, run_goal, approve_all=approve_all, reviewed=reviewed, target=target
    )
    return execution.run_to_exit(running, execution.ResultOutput(mode, workspace, target, weft.settings))
