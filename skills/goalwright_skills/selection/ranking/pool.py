"""The skills to choose from, ready to be ranked."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.selection.index.descriptions import spoken_name
from goalwright_skills.selection.query.language import other_language
from goalwright_skills.selection.query.terms import spelled, terms
from goalwright_skills.selection.ranking.combination import Combination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.selection.index.leading import LeadingVectors
    from goalwright_skills.selection.index.vectors import Vectors
    from goalwright_skills.selection.ranking.bm25 import Scorer
    from goalwright_skills.skill import Skill

# Removes letters and digits, which leaves the separators of a name, and characters that are words of their own.
_LETTERS = str.maketrans("", "", string.ascii_letters + string.digits)


@dataclass(slots=True)
class Pool:
    """Skills with their words and vectors; without `table` they are ranked by words alone."""

    skills: Sequence[Skill]
    scorer: Scorer
    vectors: Vectors | LeadingVectors
    table: Table | None
    combination: Combination = field(default_factory=Combination.shipped)
    _names: dict[int, dict[int, float]] = field(default_factory=dict)
    _spelled: dict[int, dict[str, str]] = field(default_factory=dict)
    _lengths: dict[int, int] = field(default_factory=dict)
    _languages: dict[int, str] = field(default_factory=dict)

    def name(self, document: int) -> dict[int, float]:
        """Return the terms of a skill's name with their rarity."""
        if document not in self._names:
            data, rule = self.scorer.data, self.scorer.rule
            numbers = map(data.term, terms(spoken_name(self.skills[document])))
            self._names[document] = {
                term: sum(rule.rarity(data.brief[term], data.having[term])) for term in numbers if term is not None
            }
        return self._names[document]

    def spelled_name(self, document: int) -> dict[str, str]:
        """Return the terms of a skill's name in order, with their spelling."""
        if document not in self._spelled:
            self._spelled[document] = spelled(spoken_name(self.skills[document]))
        return self._spelled[document]

    def words_in_name(self, document: int) -> int:
        """Return the largest number of words that a skill's name may have; its text starts with the name."""
        if (count := self._lengths.get(document)) is None:
            count = self._lengths[document] = 1 + len(self.skills[document].name.translate(_LETTERS))
        return count

    def language(self, document: int) -> str:
        """Return the language of a skill's description; empty for English."""
        if document not in self._languages:
            self._languages[document] = other_language(self.skills[document].description)
        return self._languages[document]

    def names_with(self, word: str) -> int:
        """Count the skills with a term in their names."""
        term = self.scorer.data.term(word)
        return self.scorer.data.named[term] if term is not None else 0

    def bundled(self, document: int) -> bool:
        """Whether a skill ships with goalwright."""
        return self.skills[document].source == "bundled"
