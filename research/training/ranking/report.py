"""Figures by set, measured by the detector itself as a run uses it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from goalwright_skills.selection.detectors import top

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_skills.selection.detector import SkillDetector

    from training.goals.check import Goal
    from training.ranking.development import Development

LISTED = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a goal selected, and the first skills of its ranking."""

    goal: Goal
    selected: tuple[str, ...]
    ranked: tuple[str, ...]

    def recall(self, places: int) -> float:
        """The share of the expected skills among the first places."""
        return len(set(self.ranked[:places]).intersection(self.goal.expected)) / len(self.goal.expected)


def outcomes(development: Development, make: Callable[[], SkillDetector], halves: Sequence[str]) -> list[Outcome]:
    """Select and rank for every goal of these halves."""
    finders: dict[str, SkillDetector] = defaultdict(make)
    found = []
    for goal in development.goals:
        if goal.half in halves:
            finder, pool = finders[goal.pool], development.pools[goal.pool]
            selected = tuple(selection.name for selection in finder.detect(goal.goal, pool))
            ranked = (
                tuple(selection.name for selection in top(finder, goal.goal, pool, LISTED)) if goal.expected else ()
            )
            found.append(Outcome(goal, selected, ranked))
    return found


def lines(found: Sequence[Outcome]) -> list[str]:
    """A row for each set: of goals that need a skill, and of goals that need none."""
    by_set: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in found:
        by_set[outcome.goal.set].append(outcome)
    return [_line(name, by_set[name]) for name in sorted(by_set)]


def _line(name: str, found: Sequence[Outcome]) -> str:
    if not found[0].goal.expected:
        return f"{name:<44} {len(found):>4}  selects {sum(bool(outcome.selected) for outcome in found)}"
    first = fmean(outcome.ranked[0] in outcome.goal.expected for outcome in found)
    five, thirty = (fmean(outcome.recall(places) for outcome in found) for places in (5, LISTED))
    nothing = fmean(not outcome.selected for outcome in found)
    chosen = fmean(
        len(set(outcome.selected).intersection(outcome.goal.expected)) / len(outcome.goal.expected) for outcome in found
    )
    wrong = fmean(
        bool(outcome.selected) and not set(outcome.selected).intersection(outcome.goal.expected) for outcome in found
    )
    count = fmean(len(outcome.selected) for outcome in found)
    return (
        f"{name:<44} {len(found):>4}  first {first:.3f}  R@5 {five:.3f}  R@30 {thirty:.3f}  nothing {nothing:.3f}  "
        f"wrong {wrong:.3f}  set recall {chosen:.3f}  selected {count:.2f}"
    )
