"""Which tools a small model may plan with: none, unless one of them fits the goal as a skill would have to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping


def fitting_tools(goal: str, tools: Mapping[str, str], most: int) -> tuple[str, ...]:
    """The names of the best `most` tools for a goal, by their descriptions; none where none is selected."""
    from goalwright_skills.selection import detectors
    from goalwright_skills.selection.ranked import RankedDetector

    ranked, rows = RankedDetector(), [Skill(name, f"{name}: {about}", "", "global") for name, about in tools.items()]
    if not ranked.detect(goal, rows):
        return ()
    return tuple(selection.name for selection in detectors.top(ranked, goal, rows, most))
