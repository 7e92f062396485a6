"""What speaks for a skill, as numbers that can be weighed against each other."""

from __future__ import annotations

from typing import NamedTuple


class Signals(NamedTuple):
    """What speaks for a skill in a goal or in a part of it, in the order of the weights.

    words      how strongly the words that it shares speak for it
    lead       its score by words as a share of the best one's
    meaning    the cosine of the encoder's vectors
    nearness   how near it comes to the nearest: 1 for the nearest, 0 for an average skill
    name       how much of its name is said
    evidence   how many words speak for it, 1 for four or more
    """

    words: float = 0.0
    lead: float = 0.0
    meaning: float = 0.0
    nearness: float = 0.0
    name: float = 0.0
    evidence: float = 0.0
