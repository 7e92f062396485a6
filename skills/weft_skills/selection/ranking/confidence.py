"""A score as the probability that the skill is the right one, comparable across pools of any size.

    strength     score / √(weight of the goal · weight of the rarest word) · n / (n + 1), for n words that speak for it
    probability  1 / (1 + (HALF / strength) ^ STEEPNESS)

`python -m bench.selection_quality CORPUS` draws how well it keeps its word; 1.00 is for skills that a goal names.
"""

from __future__ import annotations

import math

# Fitted to the first skill of 1,677 goals in pools of 26 to 8,600 skills, and of goals of another field.
HALF, STEEPNESS = 2.28, 2.08
MOST = 0.99
# One word never makes a confident match, however rare it is.
FEWEST_WORDS = 1.5
LONE = 0.2
# A skill after the first is the right one only if the first is not: the nearer its score, the likelier.
BEHIND = 0.6


def strength(score: float, weight: float, unseen: float, words: float) -> float:
    """How strong a score is for a goal of that weight; `unseen` is the weight of a word that no skill has."""
    return score / math.sqrt(weight * unseen) * words / (words + 1) if weight > 0 else 0.0


def probability(strength: float, words: float) -> float:
    """The probability that a skill of that strength is the right one; `words` of the goal speak for it."""
    found = 1 / (1 + (HALF / strength) ** STEEPNESS) if strength > 0 else 0.0
    return min(found, MOST if words >= FEWEST_WORDS else LONE)


def behind(score: float, first: float) -> float:
    """What is left of a skill's probability if another one scores higher for the same words."""
    return BEHIND * min(1.0, score / first) ** 2
