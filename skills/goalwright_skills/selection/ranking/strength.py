"""How strongly a score by words speaks for a skill, comparable across goals and pools of any size.

strength = score / √(weight of the goal · weight of the rarest word) · n / (n + 1), for n words that speak for it

The best of all leads the others by words, whatever its score; the lead counts in full where its score is a strong one.
"""

from __future__ import annotations

import math

# One word alone never makes a further match, however rare it is.
FEWEST_WORDS = 1.5
# The best score, without regard to the number of words, from which its lead counts in full. Of skills that are the only
# ones in a goal's language, those it is for have 1.5 and more, others .9 and less.
FULL_LEAD = 3.0


def strength(score: float, weight: float, unseen: float, words: float) -> float:
    """How strong a score is for a goal of that weight; `unseen` is the weight of a word that no skill has."""
    return score / math.sqrt(weight * unseen) * words / (words + 1) if weight > 0 else 0.0


def leading(best: float, weight: float, unseen: float) -> float:
    """How much it counts to have the best score by words, for a goal of that weight: 1 where it is a strong one."""
    return min(1.0, best / math.sqrt(weight * unseen) / FULL_LEAD) if weight > 0 else 0.0
