"""What speaks for a skill, and what a text is like beside the skills of a pool, as numbers that can be weighed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


class Signals(NamedTuple):
    """What speaks for a skill in a goal or in a part of it, in the order of the weights.

    words           how strongly the words that it shares speak for it
    lead            its score by words as a share of the best one's, less where that is weak
    meaning         the cosine of the encoder's vectors
    nearness        how near it comes to the nearest: 1 for the nearest, 0 for an average skill
    name            how much of its name is said
    evidence        how many words speak for it, 1 for four or more
    meaning_leads   its nearness, as far as no skill has a strong lead by words or a rare word of the text
    """

    words: float = 0.0
    lead: float = 0.0
    meaning: float = 0.0
    nearness: float = 0.0
    name: float = 0.0
    evidence: float = 0.0
    meaning_leads: float = 0.0


class Agreement(NamedTuple):
    """What of a text its best skill says.

    described   how many of its words are in the skill's name and description
    in_body     how many are in its body alone
    rarest      how much the rarest word of its description says, 1 for one that no skill has
    """

    described: int = 0
    in_body: int = 0
    rarest: float = 0.0


class Outlook(NamedTuple):
    """What a text is like beside all skills of a pool.

    most_meaning   the highest cosine of any skill
    mean           the mean cosine of all
    deviation      how widely the cosines are spread
    known          the share of its words that some skill has
    unheard        how much the word says that says most of those that no skill has, in a goal in English
    everyday       the log odds that the goal is everyday talk
    skills         how many skills there are
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
    """A skill's number and its score by words: by single ones, and with what pairs of words add.

    `adds` is what of it comes from which term, and `words` how many words speak for it.
    """

    document: int
    by_words: float
    score: float
    adds: dict[int, float]
    words: float


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
