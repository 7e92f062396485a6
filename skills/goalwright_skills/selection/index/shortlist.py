"""The skills that a goal may be about among those that are not indexed yet, by their names and descriptions.

Tens of thousands are looked through in a few tenths of a second: a word counts where its stem is part of the text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from goalwright_skills.selection.descriptions import when_to_use
from goalwright_skills.selection.index.segments import Unseen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.skill import Skill

# How many skills are taken, and how many words are looked for.
MOST, WORDS = 250, 24


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The skills taken, and how many of the others have which term of the goal."""

    skills: list[Skill]
    others: Unseen


class Described:
    """Skills by what is known of them before any file is read."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills
        self._texts = [
            f"{one.name} {one.description} {when_to_use(one) if one.extra else ''}".lower() for one in skills
        ]

    def shortlist(self, words: Mapping[str, str]) -> Shortlist:
        """The skills that say most of the words, given as terms with their spelling, rare ones counting more."""
        scores: dict[int, float] = {}
        having: dict[str, list[int]] = {}
        for term, spelling in list(words.items())[:WORDS]:
            stem = _stem(term, spelling)
            having[term] = [at for at, text in enumerate(self._texts) if stem in text]
            rarity = math.log(1 + len(self._texts) / (1 + len(having[term])))
            for at in having[term]:
                scores[at] = scores.get(at, 0.0) + rarity
        taken = set(nlargest(MOST, scores, key=lambda at: (scores[at], -at)))
        counts = {term: sum(at not in taken for at in there) for term, there in having.items()}
        return Shortlist([self._skills[at] for at in sorted(taken)], Unseen(len(self._skills) - len(taken), counts))


def _stem(term: str, spelling: str) -> str:
    """What a term and its spelling begin with: the stem of queries is queri, and a text may have query."""
    same = next((at for at, (one, other) in enumerate(zip(term, spelling, strict=False)) if one != other), len(term))
    return term[:same].removesuffix("i") or spelling
