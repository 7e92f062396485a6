"""Goals with gold graphs, and how graphs are compared."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from pathlib import Path

    from goalwright_planner.model import Message
    from goalwright_planner.plan.plan import Plan

HALVES = ("tune", "report")


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a plan in order, and its edges by position."""

    nodes: tuple[str, ...]
    edges: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PlanGoal:
    """A goal of a set, with its skills, its tools and the set's own prompt.

    `gold` is the reference in the set's own form.
    """

    id: str
    text: str
    gold: Any
    published: tuple[Message, ...]
    skills: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def half(self) -> str:
        """Return the half of a goal: tuned on, or reported."""
        return HALVES[hashlib.sha256(self.id.encode()).digest()[0] % 2]


class GoalSet(Protocol):
    """A public set of goals with gold plans, scored from 0 to 1."""

    @property
    def name(self) -> str:
        """The set's name."""

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the figures."""

    def read(self, folder: Path) -> list[PlanGoal]:
        """Read the goals from a checkout."""

    def of_plan(self, plan: Plan, goal: PlanGoal) -> Any:
        """Convert one of goalwright's plans to the scored form."""

    def of_answer(self, text: str, goal: PlanGoal) -> Any:
        """Convert an answer to the set's own prompt; raise ValueError if it is unreadable."""

    def score(self, made: Any, goal: PlanGoal) -> tuple[float, ...]:
        """Score one plan."""


def sample(goals: Sequence[PlanGoal], most: int, half: str) -> list[PlanGoal]:
    """Return a deterministic sample of a half."""
    chosen = [goal for goal in goals if goal.half == half]
    random.Random(2026).shuffle(chosen)
    return chosen[:most]


def f1(made: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """Return the F1 of two multisets."""
    ours, theirs = Counter(made), Counter(gold)
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else float(not ours and not theirs)


def interval(values: Sequence[float], draws: int = 2_000) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by a seeded bootstrap."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (0.0, 0.0)
    dice = random.Random(2026)
    means = sorted(sum(dice.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]
