"""The signals of a skill and of a text, as numbers that can be weighed.

strength = score / √(weight of the goal · weight of an unknown word) · n / (n + 1), for n words that are evidence

The strength of a score by words is comparable across goals and pools of any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

# A further match needs more than one word, however rare.
FEWEST_WORDS = 1.5
# The best score, apart from the number of words, from which its lead counts in full. Among skills that are the only
# ones in a goal's language, the right ones have 1.5 and more, others .9 and less.
FULL_LEAD = 3.0


class Signals(NamedTuple):
    """The signals of a skill for a goal or a part of it, in the order of the weights.

    words           the strength of the words that it shares
    lead            its score by words as a share of the best score, reduced if that is weak
    meaning         the cosine of the encoder's vectors
    nearness        1 for the nearest skill, 0 for an average one
    name            the share of its name that the text contains
    evidence        the number of words that are evidence, 1 for four or more
    meaning_leads   its nearness, unless a skill has a strong lead by words or a rare word of the text
    """

    words: float = 0.0
    lead: float = 0.0
    meaning: float = 0.0
    nearness: float = 0.0
    name: float = 0.0
    evidence: float = 0.0
    meaning_leads: float = 0.0


class Agreement(NamedTuple):
    """How much of a text its best skill covers.

    described   the number of its words in the skill's name and description
    in_body     the number of its words in the body alone
    rarest      the weight of the rarest word of the description, 1 for a word that no skill has
    """

    described: int = 0
    in_body: int = 0
    rarest: float = 0.0


class Outlook(NamedTuple):
    """A text compared with all skills of a pool.

    most_meaning   the highest cosine of any skill
    mean           the mean cosine
    deviation      the standard deviation of the cosines
    known          the share of its words that some skill has
    unheard        the weight of its heaviest word that no skill has, in English goals
    everyday       the log odds that the goal is everyday talk
    skills         the number of skills
    """

    most_meaning: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0
    known: float = 0.0
    unheard: float = 0.0
    everyday: float = 0.0
    skills: int = 1


@dataclass(slots=True)
class Candidate:
    """A skill that may fit, with its score by single words, and its score with word pairs added.

    `adds` is the score by term, `words` the number of words that are evidence.
    """

    document: int
    by_words: float
    score: float
    adds: dict[int, float]
    words: float


def strength(score: float, weight: float, unseen: float, words: float) -> float:
    """Return how strong a score is for a goal of this weight; `unseen` is the weight of a word that no skill has."""
    return score / math.sqrt(weight * unseen) * words / (words + 1) if weight > 0 else 0.0


def leading(best: float, weight: float, unseen: float) -> float:
    """Return how much the lead of the best score by words counts: 1 if the score is strong."""
    return min(1.0, best / math.sqrt(weight * unseen) / FULL_LEAD) if weight > 0 else 0.0
