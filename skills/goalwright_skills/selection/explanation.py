"""Why skills are selected for a goal or not: the score of each candidate by part of the goal and by signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PartScore:
    """How well a skill fits one part of a goal, and what each signal adds to that."""

    part: str
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Explained:
    """A candidate: by how much it is above what a selection takes, or below it, and what would change that.

    One that is `certain` is selected, and a plan has to use it.
    """

    name: str
    score: float
    selected: bool
    margin: float
    parts: tuple[PartScore, ...]
    change: str
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The candidates for a goal, best first, and whether a selected one is certain."""

    goal: str
    certain: bool
    candidates: tuple[Explained, ...]
