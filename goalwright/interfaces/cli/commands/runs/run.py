"""`goalwright run`: plan and run a goal, or preview it with `--dry-run`."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, execution, goal_source, options, stdin
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.dialogs import recipe_trust
from goalwright.interfaces.cli.view import output, result_target
from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.goal_source import SourceFlags
    from goalwright.interfaces.cli.options import GoalFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.plan.plan import Plan


@click.command(cls=SectionedCommand)
@click.argument("goal", required=False)
@click.argument("values", nargs=-1, metavar="")
@options.models
@options.yes
@options.strict_skills
@options.trust
@options.approve_all
@options.goal
@goal_source.source
@options.cache
@options.stream_plan
@options.replans
@options.powers
@options.skill_choice
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

    Selects the skills that fit GOAL (`-`: stdin), plans a task graph, runs the tasks in parallel and writes the answer.

    \b
    Examples:
      goalwright run "Write API documentation for the to-do service"
      goalwright run --model openai/gpt-6.1-sol --fallback anthropic/claude-sonnet-5-5 "Compare three caches"
      goalwright run --file notes.md --max-cost 0.50 -o report.md "Turn my notes into a weekly report"
      goalwright run --write "Rename the option --colour to --color"
      goalwright run --dry-run "Review the code in src/"
      goalwright run --review "Compare three caches"
      goalwright run --after last "Now shorten it to a page"
      goalwright run --plan plan.yaml
      goalwright run --recipe weekly-report team=design file=log.md
      goalwright run --without hn-analysis -c max_concurrency=4 "Compare three caches"
      echo "Summarise the news" | goalwright run --json -

    At a terminal, goalwright asks for approvals and answers. Elsewhere the run waits, and `goalwright approvals` lists
    the requests. Every other setting can be changed with -c; docs/configuration.md lists them.

    Exit status: 0 done; 1 failed in whole or in part; 2 wrong usage or input; 4 no model or key; 5 stopped by a budget
    or limit; 6 waiting for your answer; 130 interrupted.
    """
    from goalwright.interfaces.cli import model_download, warm_up
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
    if not dry_run:  # before a plan is read, which may name their tools
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
    goalwright.workspace.check(full_goal.skills)
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


def show_preview(goalwright: Goalwright, goal: Goal, mode: OutputMode, *, indent: int | None = 2) -> int:
    """Print the skills, the prompt or plan and an estimate; returns the exit status."""
    from goalwright.workspace.planned_selection import planned_skills
    from goalwright_planner.reading.plan_answer import summary

    preview = asyncio.run(goalwright.preview(goal))
    unused = goal.recipe.warnings if goal.recipe is not None else ()
    repaired = (f"the plan was repaired: {summary(goal.repairs)}",) if goal.repairs else ()
    for warning in (*unused, *repaired, *preview.warnings) if not mode.quiet else ():
        output.say_warning(warning)
    if goal.plan is not None:
        selected = preview.to_dict()["selected"] if planned_skills(goal.plan) else []
        return _preview_plan(goal, goal.plan, selected, preview.calls, mode, indent)
    if mode.as_json:
        output.print_json({"goal": goal.text} | preview.to_dict(), indent=indent)
        return 0
    output.print_text("Skills selected:" if preview.selections else "No skill fits this goal.")
    for selection in preview.selections:
        output.print_text(f"  {selection.name}  {selection.score:.2f}  {selection.reason}")
    cost = _planning_cost(goalwright, preview.prompt_tokens)
    output.print_text(f"Estimate: about {preview.prompt_tokens:,} tokens{cost} to plan; calls: {preview.calls}.")
    if not mode.verbose:
        output.say("The planning prompt is shown with -v.")
        return 0
    for message in preview.messages:
        output.print_text(f"\n--- {message.role} ---\n{message.content}")
    return 0


def _planning_cost(goalwright: Goalwright, tokens: int) -> str:
    """Return the cost of the planning prompt; empty if the model has no price."""
    from goalwright.models.litellm.prices import PriceList
    from goalwright.settings.default_model import is_local

    name = goalwright.settings.model_for("decomposer") or goalwright.models.default.model
    price = None if is_local(name) else PriceList(goalwright.settings.prices or {})(name).prompt
    return f" ({dollars(tokens * price)})" if price is not None else ""


def _preview_plan(
    goal: Goal, plan: Plan, skills: list[dict[str, Any]], calls: str, mode: OutputMode, indent: int | None
) -> int:
    """Print a given plan and its skills; no planning prompt is sent."""
    from goalwright.runs.plans import plan_file

    if mode.as_json:
        estimate = {"prompt_tokens": 0, "calls": calls}
        output.print_json(
            {"goal": goal.text, "selected": skills, "prompt": [], "plan": plan.to_dict(), "estimate": estimate},
            indent=indent,
        )
        return 0
    output.print_text(plan_file.dump(plan, "yaml", goal.text))
    output.print_text(f"Estimate: {counted(len(plan.tasks), 'task')}; calls: {calls}.")
    return 0
