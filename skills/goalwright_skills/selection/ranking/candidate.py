"""A skill that a goal was found to fit, while it is being ranked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Candidate:
    """A skill's number and its score by words: by single ones, and with what pairs of words add.

    `adds` is what of it comes from which term, and `words` how many words speak for it.
    """

    document: int
    by_words: float
    score: float
    adds: dict[int, float]
    words: float
