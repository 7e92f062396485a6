"""The port of skill selection: what a detector takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Selection:
    """A skill that fits a goal, with the detector's confidence (0 to 1) and a reason for people to read.

    The plan has to use a `certain` skill, or give a reason for leaving it out.
    """

    name: str
    score: float
    reason: str
    certain: bool = False

    def to_dict(self) -> dict[str, str | float]:
        """Return the selection as `skills select --json` and `run --dry-run --json` print it."""
        return {"name": self.name, "score": self.score, "reason": self.reason}


class SkillDetector(Protocol):
    """Finds the skills that fit a goal."""

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that fit, best first; an empty list if none does."""


def merge(first: Sequence[Selection], others: Sequence[Selection]) -> list[Selection]:
    """Return the selections of `first`, then those of `others` for other skills."""
    names = {selection.name for selection in first}
    return [*first, *(selection for selection in others if selection.name not in names)]


@dataclass(frozen=True, slots=True)
class PartScore:
    """How well a skill fits one part of a goal, and the share of each signal in the score."""

    part: str
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Explained:
    """A candidate: its distance from the threshold of a selection, and what would change the outcome.

    The plan has to use a `certain` skill.
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
