"""`goalwright skills select GOAL --why`: why skills are selected for a goal or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted, plural, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_skills.selection.detector import Explained, Explanation

# Characters of a part of the goal that are quoted.
_QUOTED = 100


def print_why(goal: str, names: Sequence[str], top: int, workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Print why the skills `names`, or the `top` candidates, are selected or not; no model is called."""
    from goalwright.workspace.selection_reasons import explains, reasons
    from goalwright_skills.selection import detectors

    skills = open_skills(workspace, flags, quiet=mode.quiet)
    detector = skills.ranked if skills.detector_name == detectors.ASKING else skills.detector
    explanation = reasons(skills, goal, top, detector, names)
    warnings = [*skills.warnings, *skills.name_warnings(skills.request(goal)), *skills.index_notes]
    warn(skills.registry, verbose=mode.verbose, quiet=mode.quiet, more=warnings)
    if not explains(detector) and not mode.quiet:
        output.say(f"The detector {skills.detector_name!r} does not explain its scores: they are shown without parts.")
    if mode.as_json:
        output.print_json(_document(explanation, names))
        return 0
    output.print_text(_why(explanation, names))
    shown = [one for one in explanation.candidates if not names or one.name in names]
    if mode.verbose or not names:
        output.print_lines(line for candidate in shown for line in _candidate_lines(candidate, signals=mode.verbose))
    return 0


def _document(explanation: Explanation, names: Sequence[str]) -> dict[str, Any]:
    """The explanation as `--json` prints it."""
    return {
        "goal": explanation.goal,
        "certain": explanation.certain,
        "why": _why(explanation, names),
        "candidates": [
            {
                "name": candidate.name,
                "score": candidate.score,
                "selected": candidate.selected,
                "margin": candidate.margin,
                "parts": [{"part": p.part, "score": p.score, "signals": dict(p.signals)} for p in candidate.parts],
                "change": candidate.change,
            }
            for candidate in explanation.candidates
        ],
    }


def _why(explanation: Explanation, names: Sequence[str]) -> str:
    """The answer in a sentence; one for each name if there are names."""
    if names:
        by_name = {candidate.name: candidate for candidate in explanation.candidates}
        return " ".join(_sentence(f"{name} is {_standing(by_name[name])}", by_name[name].change) for name in names)
    selected = [candidate for candidate in explanation.candidates if candidate.selected]
    certain = [candidate.name for candidate in selected if candidate.certain]
    if selected:
        listed = ", ".join(candidate.name for candidate in selected)
        verb = plural(len(selected), "is", "are")
        if not certain:
            return f"{counted(len(selected), 'skill')} {verb} selected, none with certainty: {listed}."
        sure = "" if len(certain) == len(selected) else f"{', '.join(certain)} "
        return f"{counted(len(selected), 'skill')} {verb} selected, {sure}with certainty: {listed}."
    if not explanation.candidates:
        return "No skill is selected: none has anything in common with the goal."
    nearest = explanation.candidates[0]
    return _sentence(f"No skill is selected; the nearest is {nearest.name}, {_standing(nearest)}", nearest.change)


def _sentence(statement: str, reason: str) -> str:
    return f"{statement}: {reason[:1].lower()}{reason[1:].rstrip('.')}." if reason else f"{statement}."


def _candidate_lines(candidate: Explained, *, signals: bool) -> Iterator[str]:
    yield ""
    yield f"{candidate.name}  {candidate.score:.2f}  {_standing(candidate)}"
    for part in candidate.parts if signals else ():
        values = ", ".join(f"{name} {value:.2f}" for name, value in part.signals.items())
        yield f"  {part.score:.2f}  {shorten(part.part, _QUOTED)!r}" + (f": {values}" if values else "")
    if candidate.change:
        yield f"  {candidate.change}"


def _standing(candidate: Explained) -> str:
    """Whether a candidate is selected, and its margin unless that is 0."""
    margin = f", by {abs(candidate.margin):.2f}" if candidate.margin else ""
    return f"selected{margin}" if candidate.selected else f"not selected{margin}"
