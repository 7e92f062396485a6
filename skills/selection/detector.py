"""The port of skill selection: who finds the skills that fit a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Selection:
    """A skill that fits a goal: how sure the detector is (0 to 1), and why, in words a person understands."""

    name: str
    score: float
    reason: str


def as_selection(one: Any) -> Selection:
    """What a detector gave; another package's may give plain (name, score, reason)."""
    return one if isinstance(one, Selection) else Selection(*one)


class SkillDetector(Protocol):
    """Finds the skills that fit a goal, best first."""

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that fit, best first; an empty list where none does."""
