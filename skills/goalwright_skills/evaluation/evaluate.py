"""Selecting for labelled goals, and measuring how well that went.

R@k               of the expected skills, as many as k places can hold, how many are among the first k; the mean over
                  all goals that expect any. With one expected skill: the share of goals that rank it among the first k
nothing_selected  the number of goals that expect a skill and for which none is selected
set recall        of the expected skills, how many are selected; the mean over the goals that expect any
picked_for_none   the number of goals that expect no skill and for which one is selected
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

# As many places as a planner's listing has.
PLACES = 30


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
class Figures:
    """The measures of some goals; a share is None where no goal expects a skill."""

    goals: int
    r_at_1: float | None
    r_at_5: float | None
    r_at_30: float | None
    nothing_selected: int
    set_recall: float | None
    picked_for_none: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Figures:
        """The measures of these outcomes."""
        expecting = [outcome for outcome in outcomes if outcome.expected]
        places = {at: _mean([outcome.recall_at(at) for outcome in expecting]) for at in (1, 5, 30)}
        return cls(
            goals=len(outcomes),
            r_at_1=places[1],
            r_at_5=places[5],
            r_at_30=places[30],
            nothing_selected=sum(not outcome.selected for outcome in expecting),
            set_recall=_mean([outcome.set_recall for outcome in expecting]),
            picked_for_none=sum(bool(outcome.selected) for outcome in outcomes if not outcome.expected),
        )

    def to_dict(self) -> dict[str, Any]:
        """The measures as `--json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of all goals, and those of each set that their lines name."""

    figures: Figures
    sets: Mapping[str, Figures]
    misses: tuple[Miss, ...]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], why: Callable[[Outcome], str]) -> Evaluation:
        """The measures of these outcomes; `why` is asked about each miss at once, while the detector remembers it."""
        every: list[Outcome] = []
        sets: dict[str, list[Outcome]] = defaultdict(list)
        misses: list[Miss] = []
        for outcome in outcomes:
            every.append(outcome)
            if name := outcome.goal.set or outcome.goal.pool:
                sets[name].append(outcome)
            misses += [Miss(outcome, why(outcome))] if outcome.is_miss else []
        return cls(Figures.of(every), {name: Figures.of(sets[name]) for name in sorted(sets)}, tuple(misses))


def evaluate(goals: Iterable[LabelledGoal], skills: Sequence[Skill], detector: SkillDetector) -> Iterator[Outcome]:
    """Select and rank for each goal, as a run would."""
    known = {skill.name for skill in skills}
    for goal in goals:
        selected = [selection for selection in detector.detect(goal.goal, skills) if selection.name in known]
        ranked = [selection for selection in top(detector, goal.goal, skills, PLACES) if selection.name in known]
        yield Outcome(goal, tuple(selected), tuple(ranked))


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
