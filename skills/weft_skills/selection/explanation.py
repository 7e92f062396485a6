"""Why skills were selected for a goal or not, in numbers: by part and by signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PartScore:
    """How a skill fits a part of a goal, and what of its score comes from which signal."""

    part: str
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Explained:
    """A skill that was considered: by how much it was selected or missed, and what would change that."""

    name: str
    score: float
    selected: bool
    margin: float
    parts: tuple[PartScore, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The skills that were considered for a goal, best first; `certain` if the first is beyond doubt."""

    goal: str
    certain: bool
    candidates: tuple[Explained, ...]
