"""`weft plan`: the plan alone, for a person to look at and edit."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, Any

import click

from planner.errors import BudgetSpent
from planner.events import Warned
from weft.cli import options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from pathlib import Path

    from planner.plan.plan import Plan
    from weft.runs.goal import Goal
    from weft.runs.runtime import Weft


@click.command()
@click.argument("goal")
@options.models
@options.fetching
@options.skills
@options.goal
@options.written("Write the plan to this file, as YAML or (.json) JSON.")
@options.common
def plan(goal: str, workspace: Path, files: tuple[Path, ...], target: Path | None, **rest: Any) -> int:
    """Make a plan for GOAL and print it as YAML, without running it. `-` reads the goal from stdin.

    \b
    Examples:
      weft plan "Compare three caches" -o plan.yaml
      weft run --plan plan.yaml
      weft plan --json "Compare three caches"

    Exit status: 0 made, 1 no valid plan or a question to answer, 2 wrong usage, 4 no model or key.
    """
    from weft.cli import execution, model_download
    from weft.providers import litellm_model
    from weft.runs import plan_file
    from weft.runs.goal import Goal
    from weft.runs.runtime import Weft

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    yes = rest.pop("yes")
    execution.writable(target)
    litellm_model.preload()
    wanted = Goal(
        options.goal_text(goal),
        skills=rest.pop("skill"),
        files=tuple(path.absolute() for path in files),
        answers=rest.pop("answers"),
    )
    where = options.paths(workspace)
    weft = Weft(workspace, options.settings(where, rest, quiet=mode.quiet).settings)
    model_download.offer(weft.models.names, yes=yes, quiet=mode.quiet)
    made = asyncio.run(_made(weft, wanted, mode))
    if not made.tasks:
        target = None  # a question is no plan, and must not take the place of one
    elif target is not None and not _kept(plan_file.dump(made, plan_file.form_of(target), wanted.text), target, mode):
        target = None
    if mode.as_json:
        output.print_json(made.to_dict())
    elif target is None:
        output.print_text(plan_file.dump(made, "yaml"))
    if not made.tasks:
        output.say(f"It needs to know: {made.clarification}\nAnswer with --answer TEXT")
        return 1
    return 0


def _kept(text: str, target: Path, mode: OutputMode) -> bool:
    """Whether the plan could be written; it was paid for, and must not be lost where it could not."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        output.say_warning(f"the plan could not be written to {target}: {error.strerror}; here it is")
        return False
    if not mode.quiet:
        output.say(f"The plan is in {target}; run it with: weft run --plan {shlex.quote(str(target))}")
    return True


async def _made(weft: Weft, goal: Goal, mode: OutputMode) -> Plan:
    """The plan, with progress, within the time that it may take."""
    from weft.cli import execution
    from weft.cli.view.progress import progress
    from weft.settings.default_model import LOCAL_NOTICE, is_local

    seconds = weft.settings.timeout
    try:
        async with weft:
            with progress(mode, graph=False) as record:
                if is_local(weft.settings.model_for("decomposer") or weft.models.default.model):
                    record(Warned(LOCAL_NOTICE))
                async with asyncio.timeout(seconds):
                    return await weft.plan(goal, record=record)
    except TimeoutError as error:
        raise BudgetSpent(f"there is no plan after --timeout {seconds:g} s", hint="give it more time") from error
    except asyncio.CancelledError:
        output.say("interrupted; a plan that is not made yet leaves nothing behind")
        execution.leave(130)
        raise
