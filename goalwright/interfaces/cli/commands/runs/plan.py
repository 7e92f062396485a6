"""`goalwright plan`: make a plan without running it, or print the plan of a run."""

from __future__ import annotations

import asyncio
import shlex
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, execution, options, stdin
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.resume_command import given_arguments
from goalwright.interfaces.cli.view import output, result_target, whole_file, width
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.events import Warned
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.options import GoalFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.progress import ProgressView
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.plan.plan import Plan


@click.command(cls=SectionedCommand)
@click.argument("goal", required=False)
@click.option("--of", "run", metavar="RUN", help="Print the plan of a recorded run instead of making one.")
@options.models
@options.yes
@options.strict_skills
@options.skill_choice
@options.powers
@options.goal
@click.option(
    "--format",
    "form",
    type=click.Choice(["yaml", "json", "graph", "mermaid", "dot", "svg"]),
    help="Format of the plan (default: by the suffix of -o, else yaml).",
)
@options.journal
@options.output_file("Write the plan to this file, in the format of its suffix: .yaml, .json, .mmd, .dot, .svg.")
@options.common
def plan(
    goal: str | None,
    workspace: Path,
    goal_flags: GoalFlags,
    target: Path | None,
    form: str | None,
    run: str | None,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    yes: bool,
) -> int:
    """Make a plan for a goal without running it.

    Prints the plan for GOAL as YAML. `-` reads the goal from stdin.

    \b
    Examples:
      goalwright plan "Compare three caches" -o plan.yaml
      goalwright run --plan plan.yaml
      goalwright plan --json "Compare three caches"
      goalwright plan --format graph "Compare three caches"
      goalwright plan "Compare three caches" -o plan.svg
      goalwright plan --of last -o plan.yaml                # edit it, then:
      goalwright resume last --plan plan.yaml

    If the goal is unclear, goalwright asks at a terminal; elsewhere it prints the question and the command that answers
    it, and does not write the file.

    Exit status: 0 done; 1 no valid plan; 2 wrong usage or input; 4 no model or key; 5 stopped by a budget or limit;
    6 a question needs your answer; 130 interrupted.
    """
    from goalwright.interfaces.cli import model_download, warm_up
    from goalwright.interfaces.cli.dialogs import first_model
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright

    result_target.check_writable(target)
    if (goal is None) == (run is None):
        raise InputError("give a goal, or a run with --of", hint='for example: goalwright plan "Compare three caches"')
    if run is not None:
        return _write_plan_of(workspace, run, flags, target, form, mode)
    assert goal is not None  # noqa: S101 - one of the two is given
    full_goal = Goal(
        stdin.goal_text(goal),
        skills=goal_flags.skills,
        files=goal_flags.files,
        answers=goal_flags.answers,
    )
    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags, quiet=mode.quiet).settings
    yes = first_model.offer(settings, mode, yes=yes)
    goalwright = Goalwright(workspace, settings, open_model=warm_up.begin(settings, where))
    goalwright.workspace.check(full_goal.skills)
    warm_up.check_keys(settings)
    if not (model_download.is_missing(goalwright.models.names) and asyncio.run(goalwright.preview(full_goal)).rule):
        model_download.offer(
            goalwright.models.names, yes=yes, quiet=mode.quiet
        )  # goals planned by a rule need no model
    with execution.exiting(partial(_interrupted, mode)):
        made = asyncio.run(_make_plan(goalwright, full_goal, mode))
    if not made.tasks:
        target = None  # a question must not overwrite a plan
    elif target is not None:
        chosen = form or _format_of(target)
        text = _text_of(made, chosen, full_goal.text)
        target = target if _write(text, target, mode, chosen) else None
    if mode.as_json:
        output.print_json(made.to_dict())
    elif target is None:
        output.print_result(_text_of(made, form or "yaml"))
    if not made.tasks:
        output.say(f"Question: {made.clarification}\nAnswer with: {_answering_command()}")
        return execution.EXIT["waiting"]
    return 0


def _answering_command() -> str:
    """Return the current command with --answer, in front of a goal that follows `--`."""
    arguments = given_arguments(["plan", "GOAL"])
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return shlex.join([output.program(), *arguments[:end], "--answer", "TEXT", *arguments[end:]])


def _write_plan_of(
    workspace: Path, run: str, flags: SettingFlags, target: Path | None, form: str | None, mode: OutputMode
) -> int:
    """Print the plan of a recorded run, or write it to a file."""

    made, goal, comments = _plan_of(workspace, run, flags)
    chosen = form or _format_of(target)
    text = _text_of(made, chosen, goal)
    if chosen == "yaml" and not text.startswith("{"):
        text = comments + text
    written = target is not None and _write(text, target, mode, chosen, f"goalwright resume {run} --plan")
    if mode.as_json:
        output.print_json(made.to_dict())
    elif not written:
        output.print_result(text)
    return 0


async def _answer_to(made: Plan, mode: OutputMode, view: ProgressView) -> str | None:
    """Ask the question that came instead of a plan; returns it with the answer, or None."""
    from goalwright.interfaces.cli.dialogs import terminal
    from goalwright.interfaces.cli.dialogs.terminal import typed_answer

    if made.tasks or mode.as_json or not terminal.can_ask():
        return None
    with view.paused():
        output.say(f"\n{made.clarification}")
        answer = await typed_answer()
    return f"{made.clarification}\n{answer}" if answer is not None else None


async def _make_plan(goalwright: Goalwright, goal: Goal, mode: OutputMode) -> Plan:
    """Make the plan within the time limit, with progress; questions are asked at the terminal."""
    from goalwright.interfaces.cli.view.progress import progress
    from goalwright.settings.default_model import LOCAL_NOTICE, is_local

    seconds = goalwright.settings.timeout
    try:
        async with goalwright:
            with progress(mode, graph=False) as view:
                if is_local(goalwright.settings.model_for("decomposer") or goalwright.models.default.model):
                    view.note(Warned(LOCAL_NOTICE))
                while True:
                    async with asyncio.timeout(seconds):
                        made = await goalwright.plan(goal, record=view.note)
                    answer = await _answer_to(made, mode, view)
                    if answer is None:
                        return made
                    goal = replace(goal, answers=(*goal.answers, answer))
    except TimeoutError as error:
        raise BudgetSpent(f"planning did not finish within --timeout {seconds:g} s", hint="allow more time") from error


def _interrupted(mode: OutputMode) -> None:
    message = "Interrupted. An unfinished plan is not kept."
    output.say(message)
    if mode.as_json:
        output.print_json({"error": {"code": "INTERRUPTED", "message": message, "hint": "make the plan again"}})
    execution.exit_now(130)


def _plan_of(workspace: Path, run: str, flags: SettingFlags) -> tuple[Plan, str, str]:
    """Return the latest plan of a run, the run's goal, and comments for the editor."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored import records

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags, quiet=True).settings
    store = records.recorded_runs(where, settings)
    first = records.first_event(store, run, where)
    store.close()
    goalwright = Goalwright(workspace, settings)
    try:
        editable = goalwright.plan_of(first.run_id)
    finally:
        asyncio.run(goalwright.close())
    lines = [
        f"The plan of run {first.run_id}.",
        *editable.comments(),
        f"Continue with: {_continue_command(first.run_id)}",
    ]
    return editable.plan, first.goal, "".join(f"# {line}\n" for line in map(output.escape_controls, lines))


def _continue_command(run_id: str, target: Path | None = None) -> str:
    """Return the command that continues a run with an edited plan."""
    return shlex.join([output.program(), "resume", run_id, "--plan", str(target) if target is not None else "FILE"])


_SUFFIXES = {".json": "json", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg"}


def _format_of(target: Path | None) -> str:
    """Return the format of a file, by its suffix."""
    return _SUFFIXES.get(target.suffix.lower(), "yaml") if target is not None else "yaml"


def _text_of(made: Plan, form: str, goal: str = "") -> str:
    """Return the plan in a format; a question has no graph, so it is printed as YAML."""
    from goalwright.interfaces.cli.view import plan_graph
    from goalwright.runs.plans import plan_file
    from goalwright.traces.drawing.flowchart import dot, mermaid
    from goalwright.traces.drawing.svg import svg

    if form in ("yaml", "json") or not made.tasks:
        return plan_file.dump(made, form if form == "json" else "yaml", goal)
    if form == "graph":
        return plan_graph.draw(made, width.of(sys.stdout))
    return {"mermaid": mermaid, "dot": dot, "svg": svg}[form](made)


def _write(text: str, target: Path, mode: OutputMode, form: str, command: str = "goalwright run --plan") -> bool:
    """Write the plan; returns False if that fails, so that the paid plan is printed instead."""
    try:
        whole_file.write(target, text)
    except OSError as error:
        output.say_warning(f"cannot write the plan to {target}: {error.strerror}; printing it instead")
        return False
    if not mode.quiet and form not in ("yaml", "json"):
        output.say(f"Graph written to {target}. To run or edit the plan, write it as YAML: -o plan.yaml")
    elif not mode.quiet:
        output.say(f"Plan written to {target}. Run it with: {command} {shlex.quote(str(target))}")
    return True
