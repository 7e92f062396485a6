"""Selects for labelled goals and measures the results.

R@k               the share of the expected skills, as far as they fit into k places, that are among the first k; the
                  mean over the goals that expect any
nothing_selected  the number of goals that expect a skill and select none
set recall        the share of the expected skills that are selected; the mean over the goals that expect any
picked_for_none   the number of goals that expect no skill and select one
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.detectors import top

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from goalwright_skills.evaluation.labelled import LabelledGoal
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.skill import Skill

# The places of a planner's listing.
PLACES = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """The skills selected for a goal, and the first places of the ranking without a threshold."""

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
        """Whether an expected skill is missing or not first, or a skill is selected though none is expected."""
        if not self.expected:
            return bool(self.selected)
        return bool(self.missing) or self.recall_at(1) == 0

    def recall_at(self, places: int) -> float:
        """Return the expected skills among the first places, as a share of those that fit there."""
        hits = sum(selection.name in self.expected for selection in self.ranked[:places])
        return hits / min(places, len(self.expected))

    @property
    def set_recall(self) -> float:
        """The share of the expected skills that are selected."""
        return 1 - len(self.missing) / len(self.expected)


@dataclass(frozen=True, slots=True)
class Miss:
    """A wrong outcome and its explanation."""

    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of a set of goals; a share is None if no goal expects a skill."""

    goals: int
    r_at_1: float | None
    r_at_5: float | None
    r_at_30: float | None
    nothing_selected: int
    set_recall: float | None
    picked_for_none: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Figures:
        """Measure these outcomes."""
        expecting = [outcome for outcome in outcomes if outcome.expected]
        recall = {places: _mean([outcome.recall_at(places) for outcome in expecting]) for places in (1, 5, 30)}
        return cls(
            goals=len(outcomes),
            r_at_1=recall[1],
            r_at_5=recall[5],
            r_at_30=recall[30],
            nothing_selected=sum(not outcome.selected for outcome in expecting),
            set_recall=_mean([outcome.set_recall for outcome in expecting]),
            picked_for_none=sum(bool(outcome.selected) for outcome in outcomes if not outcome.expected),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as `--json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of all goals and of each set, and the misses."""

    figures: Figures
    sets: Mapping[str, Figures]
    misses: tuple[Miss, ...]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], why: Callable[[Outcome], str]) -> Evaluation:
        """Measure these outcomes; `why` explains each miss at once, while the detector has the goal in its cache."""
        measured: list[Outcome] = []
        sets: dict[str, list[Outcome]] = defaultdict(list)
        misses: list[Miss] = []
        for outcome in outcomes:
            measured.append(outcome)
            if name := outcome.goal.set or outcome.goal.pool:
                sets[name].append(outcome)
            misses += [Miss(outcome, why(outcome))] if outcome.is_miss else []
        return cls(Figures.of(measured), {name: Figures.of(sets[name]) for name in sorted(sets)}, tuple(misses))


def evaluate(goals: Iterable[LabelledGoal], skills: Sequence[Skill], detector: SkillDetector) -> Iterator[Outcome]:
    """Select and rank for each goal, as a run would."""
    known = {skill.name for skill in skills}
    for goal in goals:
        selected = [selection for selection in detector.detect(goal.goal, skills) if selection.name in known]
        ranked = [selection for selection in top(detector, goal.goal, skills, PLACES) if selection.name in known]
        yield Outcome(goal, tuple(selected), tuple(ranked))


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
