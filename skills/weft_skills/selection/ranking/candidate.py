"""A skill that a goal was found to fit, while it is being ranked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Candidate:
    """A ranked skill: its number, its score, what of it comes from which term, and how many words speak for it.

    `nested` is the skill in its folder that brought it to its place.
    """

    document: int
    score: float
    adds: dict[int, float]
    words: float
    nested: int | None = None
