"""`goalwright skills select`: which skills fit a goal, how well and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.commands.skills.open_workspace import warn
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.settings.settings import Settings
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_planner.events import Event
    from goalwright_skills.selection.detector import Selection, SkillDetector

Select = Callable[[str, tuple[str, ...]], "list[Selection]"]
_EXAMPLE = 'goalwright skills select "Write API documentation"'
# Candidates that `--why` shows by default.
_EXPLAINED = 10


@click.command("select")
@click.argument("goal", required=False)
@click.option(
    "--from", "source", metavar="FILE", help="Select for every goal in a `goalwright batch` file; prints JSON lines."
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    help="Show the N best-ranked skills, even poor matches; with --why, N candidates (default: 10).",
)
@click.option(
    "--why",
    "explained",
    is_flag=False,
    flag_value="",
    multiple=True,
    metavar="[NAME]",
    help="Explain the scores, or why this skill is selected or not (repeatable).",
)
@options.selecting_model
@options.skills
@options.common
def select(
    goal: str | None,
    source: str | None,
    top: int | None,
    explained: tuple[str, ...],
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
) -> int:
    """Show which skills fit a goal, how well and why.

    --why explains the selection in a sentence, and lists the candidates with the changes that would select them; -v
    adds their scores by part of the goal and by signal. No model is called.

    \b
    Examples:
      goalwright skills select "Write API documentation"
      goalwright skills select "Write API documentation" --why
      goalwright skills select "Write API documentation" --why code-review
      goalwright skills select --top 10 "Write API documentation"
      goalwright skills select --from goals.jsonl > selected.jsonl
      goalwright skills select --detector llm --model openai/gpt-6-luna "Write API documentation"
    """
    if goal is None and source is None and explained[-1:] != ("",):  # `--why GOAL`: the option took the goal
        goal, explained = explained[-1] if explained else None, (*explained[:-1], "")
    if (goal is None) == (source is None):
        raise InputError("give either a goal or --from FILE", hint=_EXAMPLE)
    if explained and goal is None:
        raise InputError("--why explains one goal, and cannot be used with --from", hint=f"{_EXAMPLE} --why")
    if explained:
        from goalwright.interfaces.cli.commands.skills.why import print_why

        text = _checked_goal(stdin.goal_text(goal))
        return print_why(text, [name for name in explained if name], top or _EXPLAINED, workspace, flags, mode)
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.selection import detectors

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags, quiet=mode.quiet).settings
    skills = WorkspaceSkills(where, settings)

    def work(detector: SkillDetector | None = None) -> int:
        select_for = partial(_select, skills, top, detector)
        if source is None:
            return _print_one(select_for, skills, goal, mode)
        without = _print_all(select_for, source)
        if not mode.quiet:
            _say_language(skills, without)
        warn(skills.registry, verbose=mode.verbose, quiet=mode.quiet, more=[*skills.warnings, *skills.index_notes])
        return 0

    if settings.detector != detectors.ASKING:
        return work()
    return with_llm_detector(where.workspace, settings, mode, work)


def _select(
    skills: WorkspaceSkills, top: int | None, detector: SkillDetector | None, goal: str, forced: tuple[str, ...]
) -> list[Selection]:
    goal = _checked_goal(goal)
    if top is None:
        return skills.select(skills.request(goal, forced), detector)
    return skills.rank(skills.request(goal, limit=top), detector)


def _checked_goal(goal: str) -> str:
    from goalwright.runs.goal_length import check_length

    if not goal.strip():
        raise InputError("the goal is empty", hint=_EXAMPLE)
    check_length(goal)
    return goal


def _print_one(select_for: Select, skills: WorkspaceSkills, goal: str | None, mode: OutputMode) -> int:
    text = stdin.goal_text(goal)
    selections = select_for(text, ())
    notes = [*skills.warnings, *skills.name_warnings(skills.request(text)), *skills.index_notes]
    warn(skills.registry, verbose=mode.verbose, quiet=mode.quiet, more=notes)
    if not selections and not mode.quiet:
        _say_language(skills, [text])
    if mode.as_json:
        output.print_json({"goal": text, "selected": [selection.to_dict() for selection in selections]})
        return 0
    for selection in selections:
        output.print_text(f"{selection.score:.2f}  {selection.name}  {selection.reason}")
    if not selections and not mode.quiet:
        output.say("No skill fits this goal. --top 5 shows the nearest ones, --why explains how to change that.")
    return 0


def _say_language(skills: WorkspaceSkills, goals: Sequence[str]) -> None:
    """Warn if goals select no skill because of their language."""
    active = skills.active() if goals else []
    notes = [foreign for goal in goals if (foreign := skills.foreign(goal, active)) is not None]
    if notes:
        count = f"{counted(len(notes), 'goal')}: " if len(notes) > 1 else ""
        advice = "" if notes[0].familiar else f", or run it: a run asks its model for {notes[0].skills} keywords"
        output.say_warning(f"{count}{notes[0].note}{advice}")


def _print_all(select_for: Select, source: str) -> list[str]:
    """Print the selection for each goal; returns the goals that select nothing."""
    from goalwright.batch import goals

    without = []
    with goals.opened(source) as file:
        for goal in file:
            selections = select_for(goal.text, goal.skills)
            if not selections:
                without.append(goal.text)
            output.print_json(
                {"id": goal.id, "goal": goal.text, "selected": [selection.to_dict() for selection in selections]},
                indent=None,
            )
            if not output.has_reader():
                break
    return without


def with_llm_detector(
    workspace: Path, settings: Settings, mode: OutputMode, work: Callable[[SkillDetector], int]
) -> int:
    """Do the work in a thread, with a detector that asks a model; returns the exit status."""
    import asyncio  # slow to import; other detectors need no model

    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.events import Warned

    def record(event: Event) -> None:
        if isinstance(event, Warned) and not mode.quiet:
            output.say_warning(event.message)

    async def ask() -> int:
        async with Goalwright(workspace, settings) as goalwright, goalwright.llm_detector(record) as llm_detector:
            status = await asyncio.to_thread(work, llm_detector)
            for warning in dict.fromkeys(llm_detector.warnings):
                record(Warned(warning))
            return status

    return asyncio.run(ask())
