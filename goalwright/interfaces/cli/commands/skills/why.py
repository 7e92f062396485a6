"""`goalwright skills why`: why a goal selects the skills that it does, and not others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import options, stdin
from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.shorten import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_skills.selection.detector import Explained, Explanation

_EXAMPLE = 'goalwright skills why "Write API documentation"'
# How much of a part of the goal is quoted.
_QUOTED = 100


@click.command("why")
@click.argument("goal")
@click.option(
    "--top",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    metavar="N",
    help="How many candidates to show.",
)
@click.option("--skill", "named", multiple=True, metavar="NAME", help="Explain this skill too, wherever it ranks.")
@options.skills
@options.common
def why(goal: str, top: int, named: tuple[str, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Show why GOAL selects the skills that it does, and not others.

    For each candidate: its score by part of the goal and by signal, by how much it is selected or missed, and what
    would change that. Skills that are required, pinned, manual or off say so. A skill named with --skill is explained
    even if it was not a candidate. No model is called.

    \b
    Examples:
      goalwright skills why "Write API documentation"
      goalwright skills why --top 3 --json "Write API documentation"
      goalwright skills why --skill code-review "Write API documentation"
    """
    from goalwright.runs.goal_length import check_length
    from goalwright.workspace.selection_reasons import explains, reasons
    from goalwright_skills.selection import detectors

    text = stdin.goal_text(goal)
    if not text.strip():
        raise InputError("the goal is empty", hint=_EXAMPLE)
    check_length(text)
    skills = open_skills(workspace, flags, quiet=mode.quiet)
    detector = skills.ranked if skills.detector_name == detectors.ASKING else skills.detector
    found = reasons(skills, text, top, detector, named)
    warn(
        skills.registry,
        verbose=mode.verbose,
        quiet=mode.quiet,
        more=[*skills.warnings, *skills.named_in_vain(text, skills.active()), *skills.index_notes],
    )
    if not explains(detector) and not mode.quiet:
        output.say(f"The detector {skills.detector_name!r} does not explain its scores: they are shown without parts.")
    if mode.as_json:
        output.print_json(_document(found))
    else:
        output.print_text("\n".join(_lines(found)))
    return 0


def _document(found: Explanation) -> dict[str, Any]:
    """The explanation as `--json` prints it."""
    return {
        "goal": found.goal,
        "certain": found.certain,
        "candidates": [
            {
                "name": one.name,
                "score": one.score,
                "selected": one.selected,
                "margin": one.margin,
                "parts": [{"part": p.part, "score": p.score, "signals": dict(p.signals)} for p in one.parts],
                "change": one.change,
            }
            for one in found.candidates
        ],
    }


def _lines(found: Explanation) -> Iterator[str]:
    yield _selected(found)
    for one in found.candidates:
        yield ""
        yield f"{one.name}  {one.score:.2f}  {_standing(one)}"
        for part in one.parts:
            signals = ", ".join(f"{name} {value:.2f}" for name, value in part.signals.items())
            yield f"  {part.score:.2f}  {shorten(part.part, _QUOTED)!r}" + (f": {signals}" if signals else "")
        if one.change:
            yield f"  {one.change}"


def _selected(found: Explanation) -> str:
    """How many skills are selected, and which of them with certainty."""
    selected = [one for one in found.candidates if one.selected]
    certain = [one.name for one in selected if one.certain]
    if not selected:
        return "Nothing is selected."
    if len(certain) == len(selected):
        return f"{len(selected)} selected, with certainty."
    return f"{len(selected)} selected, " + (
        f"{', '.join(certain)} with certainty." if certain else "not with certainty."
    )


def _standing(one: Explained) -> str:
    """Whether a candidate is selected, and by how much; a margin of 0 says nothing."""
    if one.selected:
        return f"selected, by {one.margin:.2f}" if one.margin > 0 else "selected"
    return f"not selected, by {-one.margin:.2f}" if one.margin < 0 else "not selected"
