"""The skills to choose from, ready to be ranked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft_skills.selection.descriptions import spoken_name
from weft_skills.selection.ranking.combination import Combination
from weft_skills.selection.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_skills.selection.encoder import Table
    from weft_skills.selection.index.vectors import Vectors
    from weft_skills.selection.ranking.bm25 import Scorer
    from weft_skills.skill import Skill


@dataclass(slots=True)
class Pool:
    """Skills with their words and vectors; without `table` they are ranked by words alone."""

    skills: Sequence[Skill]
    scorer: Scorer
    vectors: Vectors
    table: Table | None
    combination: Combination = field(default_factory=Combination.shipped)
    _names: dict[int, dict[int, float]] = field(default_factory=dict)
    _having: Counter[str] | None = None

    def name(self, document: int) -> dict[int, float]:
        """The terms of a skill's name, and how rare each is."""
        if document not in self._names:
            data, rule = self.scorer.data, self.scorer.rule
            numbers = map(data.term, terms(spoken_name(self.skills[document])))
            self._names[document] = {
                term: sum(rule.rarity(data.brief[term], data.having[term])) for term in numbers if term is not None
            }
        return self._names[document]

    def names_with(self, word: str) -> int:
        """How many skills have a term in their names."""
        if self._having is None:
            self._having = Counter(term for skill in self.skills for term in set(terms(spoken_name(skill))))
        return self._having[word]

    def bundled(self, document: int) -> bool:
        """Whether a skill ships with weft."""
        return self.skills[document].source == "bundled"
