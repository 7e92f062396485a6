"""`goalwright skills overlap`: pairs of skills that compete for the same goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.plural import counted
from goalwright_skills.text.shorten import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_skills.evaluation.overlap import Overlap

_LIMIT = 50
_SHOWN = 3
_WIDTH = 90


@click.command("overlap")
@click.option(
    "--goals",
    "source",
    metavar="FILE",
    help="Goals to compare on, in the format of `goalwright skills eval` (`-`: stdin).",
)
@click.option("--skill", metavar="NAME", help="Only the pairs of this skill.")
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most N pairs."
)
@options.skills
@options.common
def overlap(
    source: str | None, skill: str | None, limit: int, workspace: Path, flags: SettingFlags, mode: OutputMode
) -> int:
    """Show pairs of skills that compete for the same goals.

    Without --goals, the phrases of the skills' own descriptions are the goals: two skills compete where a phrase of one
    selects the other. With --goals, they compete where one is selected, or comes first, and the other was expected; for
    goals without `expected`, where both are selected. No model is called.

    \b
    Examples:
      goalwright skills overlap
      goalwright skills overlap --skill code-review
      goalwright skills overlap --goals goals.jsonl --json
    """
    from goalwright.interfaces.cli.commands.skills.evaluate import explainer_of, read_goals, say_unknown
    from goalwright.interfaces.cli.view.counting import counting
    from goalwright_skills.evaluation import overlap as overlaps
    from goalwright_skills.selection import detectors

    goals = read_goals(source, labelled=False) if source is not None else None
    skills = open_skills(workspace, flags, quiet=mode.quiet)
    active = skills.preferences.selectable(skills.active())
    if skill is not None:
        skills.check_known([skill], active)
    warn(skills.registry, verbose=mode.verbose, quiet=mode.quiet)
    detector = skills.ranked if skills.detector_name == detectors.ASKING else skills.detector
    if goals is not None:
        if not mode.quiet:
            say_unknown(goals, explainer_of(skills, active, detector))
        every = [pair for pair in overlaps.in_goals(goals, active, detector) if skill in (None, pair.a, pair.b)]
        pairs, left = every[:limit], len(every) - limit
    else:
        with counting(lambda done: f"{counted(done, 'phrase')} tried", quiet=mode.quiet) as note:
            pairs, left = overlaps.in_descriptions(active, detector, limit, only=skill, progress=note)
    if mode.as_json:
        output.print_json([{"a": pair.a, "b": pair.b, "goals": list(pair.goals)} for pair in pairs])
    else:
        _print(pairs)
    if left > 0 and not mode.quiet:
        what = "not shown" if goals is not None else "not tried"
        output.say(f"{counted(left, 'more pair')} {what}; raise --limit, or name a skill with --skill")
    if not pairs and not mode.quiet:
        output.say("No two skills compete.")
    return 0


def _print(pairs: Sequence[Overlap]) -> None:
    for pair in pairs:
        output.print_text(f"{pair.a}  {pair.b}  {counted(len(pair.goals), 'goal')}")
        for goal in pair.goals[:_SHOWN]:
            output.print_text(f"  {shorten(goal, _WIDTH)}")
