"""`weft run`: one goal, end to end."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.text.plural import counted
from weft.cli import execution, options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from executor.history.result import Result
    from planner.plan.plan import Plan
    from weft.runs.goal import Goal
    from weft.runs.plan_file import PlanFile
    from weft.runs.runtime import Weft

_NO_GOAL = "Carry out this plan."


@click.command()
@click.argument("goal", required=False)
@options.models
@options.fetching
@options.skills
@options.tools
@options.goal
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Run this plan instead of making one.")
@options.concurrency
@options.written()
@options.journal
@click.option("--dry-run", is_flag=True, help="Show the selection, the prompt or plan, an estimate; make no call.")
@options.common
def run(
    goal: str | None,
    workspace: Path,
    files: tuple[Path, ...],
    target: Path | None,
    **rest: Any,
) -> int:
    """Reach GOAL: select skills, plan, run the tasks in parallel, answer. `-` reads the goal from stdin.

    \b
    Examples:
      weft run "Write API documentation for the to-do service"
      weft run --model openai/gpt-4o --fallback anthropic/claude-sonnet-4-5 "Compare three caches"
      weft run --file notes.md --max-cost 0.50 -o report.md "Turn my notes into a weekly report"
      weft run --dry-run "Review the code in src/"
      weft run --plan plan.yaml
      echo "Summarise the news" | weft run --json -

    Exit status: 0 done, 1 failed or in part, 2 wrong usage, 4 no model or key, 5 stopped by a limit, 130 interrupted.
    """
    from weft.cli import model_download, trust_prompt
    from weft.providers import litellm_model
    from weft.runs.goal import Goal
    from weft.runs.runtime import Weft

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    dry, plan_file = rest.pop("dry_run"), rest.pop("plan_file")
    skills, answers, yes = rest.pop("skill"), rest.pop("answers"), rest.pop("yes")
    trust = rest.pop("trust")
    execution.writable(target)
    if not dry:
        litellm_model.preload()
    where = options.paths(workspace)
    if trust:
        trust_prompt.workspace(where)
    resolved = options.settings(where, rest, quiet=mode.quiet)
    weft = Weft(workspace, resolved.settings)
    plan = _plan(weft, plan_file) if plan_file is not None else None
    wanted = Goal(
        options.goal_text(goal) if goal is not None or plan is None else plan.goal or _NO_GOAL,
        skills=skills,
        files=tuple(path.absolute() for path in files),
        plan=plan.plan if plan else None,
        answers=answers,
        stream=not mode.as_json and output.is_terminal() and sys.stdout.isatty(),
    )
    if mode.verbose:
        for note in weft.workspace.tools.notes():
            output.say(note)
    if dry:
        return _preview(weft, wanted, mode)
    options.tell_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.settle(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    if weft.models.needed_for(wanted.plan):
        model_download.offer(weft.models.names, yes=yes, quiet=mode.quiet)
    given = click.get_current_context().obj or ()
    return execution.run_to_exit(
        _reach(weft, wanted, mode), execution.Ending(mode, workspace, target, tuple(given[1:]))
    )


async def _reach(weft: Weft, goal: Goal, mode: OutputMode) -> Result:
    """Run the goal; on a terminal, ask what the planner wants to know, and go on."""
    while True:
        result = await execution.run_with_progress(weft, mode, partial(weft.run, goal))
        if result.status != "clarification" or mode.as_json or not (output.is_terminal() and sys.stdin.isatty()):
            return result
        answer = _answered(result.question or "")
        if answer is None:
            return result
        goal = replace(goal, answers=(*goal.answers, f"{result.question}\n{answer}"))


def _answered(question: str) -> str | None:
    """What the person answers, None for nothing (Ctrl-D); not in a thread, where Ctrl-C would not reach it."""
    output.say(f"\n{question}")
    try:
        return str(click.prompt("Your answer", err=True))
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        output.say()
        return None


def _plan(weft: Weft, path: Path) -> PlanFile:
    from weft.runs import plan_file as planfile

    known = weft.workspace.known()
    if str(path) == "-":
        return planfile.parse(options.stdin_text("the plan"), "on stdin", known)
    return planfile.read(path, known)


def _preview(weft: Weft, goal: Goal, mode: OutputMode) -> int:
    preview = asyncio.run(weft.preview(goal))
    if goal.plan is not None:
        return _preview_plan(goal, goal.plan, preview.calls, mode)
    selected = [{"name": one.name, "score": one.score, "reason": one.reason} for one in preview.selections]
    if mode.as_json:
        prompt = [{"role": message.role, "content": message.content} for message in preview.messages]
        estimate = {"prompt_tokens": preview.prompt_tokens, "calls": preview.calls}
        output.print_json({"goal": goal.text, "selected": selected, "prompt": prompt, "estimate": estimate})
        return 0
    output.print_text("Skills selected:" if selected else "No skill fits this goal.")
    for one in preview.selections:
        output.print_text(f"  {one.name}  {one.score:.2f}  {one.reason}")
    for message in preview.messages:
        output.print_text(f"\n--- {message.role} ---\n{message.content}")
    output.print_text(f"\nEstimate: about {preview.prompt_tokens:,} tokens to plan; calls: {preview.calls}.")
    return 0


def _preview_plan(goal: Goal, plan: Plan, calls: str, mode: OutputMode) -> int:
    """What would run where the plan is given: neither is a skill selected nor a planning prompt sent."""
    from weft.runs import plan_file as planfile

    if mode.as_json:
        estimate = {"prompt_tokens": 0, "calls": calls}
        output.print_json(
            {"goal": goal.text, "selected": [], "prompt": [], "plan": plan.to_dict(), "estimate": estimate}
        )
        return 0
    output.print_text(planfile.dump(plan, "yaml", goal.text))
    output.print_text(f"Estimate: {counted(len(plan.tasks), 'task')}; calls: {calls}.")
    return 0
