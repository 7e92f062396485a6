"""Several indexes read as one: the numbers of skills and terms, and the rarities, are those of the whole pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from goalwright_skills.selection.index.leading import LeadingVectors
from goalwright_skills.selection.index.likely import Likely, highest
from goalwright_skills.selection.index.numbering import DEAD, Numbering
from goalwright_skills.selection.index.term_table import found_in, spelled
from goalwright_skills.selection.index.weights import MIN_POOL, WHOLE, idf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.selection.index.likely import Span
    from goalwright_skills.selection.index.postings import Postings

# The number of skills that a term lists in all, shared among the indexes by frequency, and the least for each index.
LISTED, FEWEST = 2_000, 32
# The number of cached lists of terms.
_LISTS_KEPT = 2_000
_RARITIES_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class IndexSegment:
    """An index, and the local numbers of its skills that still exist."""

    data: Postings
    kept: Sequence[int]


@dataclass(frozen=True, slots=True)
class Unseen:
    """The skills that no index has yet: their number, and the number that have each term."""

    count: int = 0
    having: Mapping[str, int] = field(default_factory=dict)


class Segments:
    """Several indexes with the interface of one; see `Postings`."""

    def __init__(self, parts: Sequence[IndexSegment], unseen: Unseen = Unseen()) -> None:  # noqa: B008 - it is frozen
        self._parts = [part.data for part in parts]
        self._unseen = unseen
        self._numbering = Numbering([(part.data.count, part.kept) for part in parts])
        self.count = self._numbering.count
        self.total = self.count + unseen.count
        self.brief: list[int] = []
        self.having: list[int] = []
        self.named: list[int] = []
        self._tables = [part.data.table for part in parts]
        # The indexes of each term, with its number there.
        self._where: list[dict[int, int]] = []
        self._known: dict[str, int | None] = {}
        self._listed: dict[int, list[tuple[int, int, int, float]]] = {}

    @property
    def bounds(self) -> list[int]:
        """Three bounds for the text of each skill, by its own index: start, end of the short part, end."""
        bounds: list[int] = []
        for part, kept in zip(self._parts, self._numbering.kept, strict=True):
            whole = len(kept) == part.count
            bounds += part.bounds if whole else [bound for local in kept for bound in part.spans[local]]
        return bounds

    @cached_property
    def vectors(self) -> LeadingVectors:
        """The vectors of all skills."""
        return LeadingVectors([part.rows for part in self._parts], self._numbering)

    def term(self, text: str) -> int | None:
        """Return the number of a term."""
        if text not in self._known:
            numbers = found_in(self._tables, *spelled(text))
            self._known[text] = self._add(text, numbers) if numbers else None
        return self._known[text]

    def _add(self, text: str, numbers: dict[int, int]) -> int:
        unseen = self._unseen.having.get(text, 0)
        parts = [(self._parts[index], number) for index, number in numbers.items()]
        self.brief.append(unseen + sum([part.brief[number] for part, number in parts]))
        self.having.append(unseen + sum([part.having[number] for part, number in parts]))
        self.named.append(sum([part.named[number] for part, number in parts]))
        self._where.append(numbers)
        return len(self._where) - 1

    def likely(self, shares: Mapping[int, float], limit: int) -> list[int]:
        """Return the listed skills with the highest scores for these terms, weighted by their shares."""
        spans: list[list[Span]] = [[] for _ in self._parts]
        for term, share in shares.items():
            for index, first, end, factor in self._lists(term):
                spans[index].append((first, end, factor, share))
        scores = Likely(self._parts, spans, limit).scores(self._numbering.numbers, self._numbering.gone)
        return highest(scores, limit)

    def _lists(self, term: int) -> list[tuple[int, int, int, float]]:
        """Return the indexes that list a term, the range there, and the factor that makes the adds comparable."""
        if term not in self._listed:
            if len(self._listed) >= _LISTS_KEPT:
                self._listed.clear()
            share = min(1.0, LISTED / max(1, self.having[term]))
            rarity = _rarity(self.total, self.brief[term], self.having[term])
            lists = self._listed[term] = []
            for index, number in self._where[term].items():
                part = self._parts[index]
                first, end = part.listed(number)
                having = part.having[number]
                end = min(end, first + max(FEWEST, int(share * having)))
                lists.append((index, first, end, rarity / _rarity(part.count, part.brief[number], having)))
        return self._listed[term]

    def places(self, document: int, terms: Sequence[int]) -> dict[int, list[int]]:
        """Return the positions of terms in a skill's text."""
        index, local = self._numbering.locate(document)
        where = self._where
        by_number = {where[term][index]: term for term in terms if index in where[term]}
        places = self._parts[index].places(local, sorted(by_number))
        return {by_number[number]: positions for number, positions in places.items()}

    def short_length(self, document: int) -> int:
        """Return the number of terms in a skill's short text."""
        index, local = self._numbering.locate(document)
        return self._parts[index].short_length(local)

    def parent(self, document: int) -> int | None:
        """Return the skill whose folder contains a skill."""
        index, local = self._numbering.locate(document)
        parent = self._parts[index].parent(local)
        return None if parent is None else next(iter(self._documents(index, [parent])), None)

    def partners(self, document: int) -> list[int]:
        """Return the skills of the same index that a skill mentions or is mentioned by."""
        index, local = self._numbering.locate(document)
        return self._documents(index, self._parts[index].partners(local))

    def needs(self, document: int) -> list[int]:
        """Return the skills of the same index that a skill requires."""
        index, local = self._numbering.locate(document)
        return self._documents(index, self._parts[index].needs(local))

    def _documents(self, index: int, locals_: Sequence[int]) -> list[int]:
        numbers = self._numbering.numbers[index]
        return [number for local in locals_ if (number := numbers[local]) != DEAD]


@lru_cache(_RARITIES_KEPT)
def _rarity(count: int, brief: int, having: int) -> float:
    """Return the weight of a term in a short and a whole text together."""
    count = max(count, MIN_POOL)
    return idf(count, brief) + WHOLE * idf(count, having)
