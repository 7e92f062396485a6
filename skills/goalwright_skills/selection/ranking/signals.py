"""What speaks for a skill, and what a text is like beside the skills of a pool, as numbers that can be weighed."""

from __future__ import annotations

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
