"""How strongly a score by words speaks for a skill, comparable across goals and pools of any size.

strength = score / √(weight of the goal · weight of the rarest word) · n / (n + 1), for n words that speak for it
"""

from __future__ import annotations

import math

# One word alone never makes a further match, however rare it is.
FEWEST_WORDS = 1.5


def strength(score: float, weight: float, unseen: float, words: float) -> float:
    """How strong a score is for a goal of that weight; `unseen` is the weight of a word that no skill has."""
    return score / math.sqrt(weight * unseen) * words / (words + 1) if weight > 0 else 0.0
