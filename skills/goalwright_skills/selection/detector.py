"""The port of skill selection: what a detector takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Selection:
    """A skill that fits a goal, with the detector's confidence (0 to 1) and a reason for people to read.

    One that is `certain` has to be used by the plan, or left out with a reason.
    """

    name: str
    score: float
    reason: str
    certain: bool = False

    def to_dict(self) -> dict[str, str | float]:
        """The selection as `skills select --json` and `run --dry-run --json` print it."""
        return {"name": self.name, "score": self.score, "reason": self.reason}


class SkillDetector(Protocol):
    """Finds the skills that fit a goal."""

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that fit, best first; an empty list if none does."""


def merge(first: Sequence[Selection], rest: Sequence[Selection]) -> list[Selection]:
    """The selections of `first`, then those of `rest` whose skills are not among them."""
    chosen = {selection.name for selection in first}
    return [*first, *(selection for selection in rest if selection.name not in chosen)]


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
