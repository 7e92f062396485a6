"""`goalwright skills check --overlap`: pairs of skills that compete for the same goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_skills.evaluation.overlap import Overlap

_SHOWN = 3
_WIDTH = 90


def print_overlap(
    source: str | None, skill: str | None, limit: int, workspace: Path, flags: SettingFlags, mode: OutputMode
) -> int:
    """Print the pairs of skills that compete for a phrase of a description, or for a goal of a file."""
    from goalwright.interfaces.cli.commands.skills.evaluate import explainer_of, read_goals, say_unknown
    from goalwright.interfaces.cli.view.progress import counter
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
        pairs, omitted = every[:limit], len(every) - limit
    else:
        with counter(lambda done: f"{counted(done, 'phrase')} tried", quiet=mode.quiet) as note:
            pairs, omitted = overlaps.in_descriptions(active, detector, limit, only=skill, progress=note)
    if mode.as_json:
        output.print_json([{"a": pair.a, "b": pair.b, "goals": list(pair.goals)} for pair in pairs])
    else:
        _print(pairs)
    if omitted > 0 and not mode.quiet:
        state = "not shown" if goals is not None else "not tried"
        output.say(f"{counted(omitted, 'more pair')} {state}; raise --limit, or name a skill with --skill")
    if not pairs and not mode.quiet:
        output.say("No two skills compete.")
    return 0


def _print(pairs: Sequence[Overlap]) -> None:
    for pair in pairs:
        output.print_text(f"{pair.a}  {pair.b}  {counted(len(pair.goals), 'goal')}")
        for goal in pair.goals[:_SHOWN]:
            output.print_text(f"  {shorten(goal, _WIDTH)}")
