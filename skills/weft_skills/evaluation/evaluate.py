"""Selecting for labelled goals, and measuring how well that went.

R@k           of the expected skills, as many as k places can hold, how many are among the first k; the mean over
              all goals that expect any. With one expected skill: the share of goals that rank it among the first k
set recall    of the expected skills, how many are selected; the mean over the same goals
picked_for_none   the number of goals that expect no skill and for which one is selected
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from weft_skills.selection.detectors import top

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weft_skills.evaluation.labelled import LabelledGoal
    from weft_skills.selection.detector import Selection, SkillDetector
    from weft_skills.skill import Skill

PLACES = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was selected for a goal, and the first places of the ranking, which has no threshold."""

    goal: LabelledGoal
    selected: tuple[Selection, ...]
    ranked: tuple[Selection, ...]

    @property
    def expected(self) -> tuple[str, ...]:
        """The skills that should be selected."""
        return self.goal.expected or ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected skills that are not selected."""
        names = {selection.name for selection in self.selected}
        return tuple(name for name in self.expected if name not in names)

    @property
    def is_miss(self) -> bool:
        """Whether an expected skill is not selected or does not come first, or one is selected where none should be."""
        if not self.expected:
            return bool(self.selected)
        return bool(self.missing) or self.recall_at(1) == 0

    def recall_at(self, places: int) -> float:
        """The expected skills among the first places, as a share of what fits there."""
        found = sum(selection.name in self.expected for selection in self.ranked[:places])
        return found / min(places, len(self.expected))

    @property
    def set_recall(self) -> float:
        """The share of the expected skills that are selected."""
        return 1 - len(self.missing) / len(self.expected)


@dataclass(frozen=True, slots=True)
class Miss:
    """An outcome that is wrong, and why."""

    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of all goals; None where no goal expects a skill."""

    goals: int
    r_at_1: float | None
    r_at_5: float | None
    set_recall: float | None
    picked_for_none: int
    misses: tuple[Miss, ...]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], why: Callable[[Outcome], str]) -> Evaluation:
        """The measures of these outcomes; `why` is asked about each miss at once, while the detector remembers it."""
        every: list[Outcome] = []
        misses: list[Miss] = []
        for outcome in outcomes:
            every.append(outcome)
            misses += [Miss(outcome, why(outcome))] if outcome.is_miss else []
        expecting = [outcome for outcome in every if outcome.expected]
        return cls(
            goals=len(every),
            r_at_1=_mean([outcome.recall_at(1) for outcome in expecting]),
            r_at_5=_mean([outcome.recall_at(PLACES) for outcome in expecting]),
            set_recall=_mean([outcome.set_recall for outcome in expecting]),
            picked_for_none=sum(bool(outcome.selected) for outcome in every if not outcome.expected),
            misses=tuple(misses),
        )


def evaluate(goals: Iterable[LabelledGoal], skills: Sequence[Skill], detector: SkillDetector) -> Iterator[Outcome]:
    """Select and rank for each goal, as a run would."""
    known = {skill.name for skill in skills}
    for goal in goals:
        selected = [selection for selection in detector.detect(goal.goal, skills) if selection.name in known]
        ranked = [selection for selection in top(detector, goal.goal, skills, PLACES) if selection.name in known]
        yield Outcome(goal, tuple(selected), tuple(ranked))


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
