"""A skill that a goal was found to fit, while it is being ranked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Candidate:
    """A skill's number, its score by words, what of that comes from which term, and how many words speak for it."""

    document: int
    score: float
    adds: dict[int, float]
    words: float

    @property
    def by_words(self) -> float:
        """Its score by single words, by which the likely skills are found."""
        return sum(self.adds.values())
