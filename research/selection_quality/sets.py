"""Goals that need several skills: how much of the set is selected, how often all of it, and how many in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selection_quality.corpus import LabelledGoal


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Set recall, whole sets, goals, and the number of selected skills on average."""

    recall: float
    whole: int
    goals: int
    selected: float

    def line(self, name: str) -> str:
        """A row to print."""
        counts = f"whole set {self.whole} of {self.goals}  selected {self.selected:.2f}"
        return f"{name:<56} set recall {self.recall:.3f}  {counts}"


def measure(goals: Sequence[LabelledGoal], select: Callable[[LabelledGoal], set[str]]) -> SetFigures:
    """The figures of some goals; `select` gives the names that a goal selects."""
    recall = whole = selected = 0.0
    for goal in goals:
        found, wanted = select(goal), set(goal.expected)
        recall += len(found & wanted) / len(wanted)
        whole += wanted <= found
        selected += len(found)
    return SetFigures(recall / len(goals), int(whole), len(goals), selected / len(goals))
