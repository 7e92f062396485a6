"""Several indexes read as one: numbers of skills and terms are the pool's, rarities those of all skills together."""

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

# How many skills a term lists in all, and in each index at least: the shares follow how many have it there.
LISTED, FEWEST = 2_000, 32
# The lists of how many terms are kept.
_LISTS_KEPT = 2_000
_RARITIES_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class IndexSegment:
    """An index, and the numbers there of those of its skills that count."""

    data: Postings
    kept: Sequence[int]


@dataclass(frozen=True, slots=True)
class Unseen:
    """Skills that no index has yet: how many there are, and how many of them have which term."""

    count: int = 0
    having: Mapping[str, int] = field(default_factory=dict)


class Segments:
    """The sections of several indexes as those of one; see `Postings` for what each gives."""

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
        # For each term the indexes that have it, and its number there.
        self._where: list[dict[int, int]] = []
        self._known: dict[str, int | None] = {}
        self._listed: dict[int, list[tuple[int, int, int, float]]] = {}

    @property
    def bounds(self) -> list[int]:
        """Where the texts of the skills begin, end their short part and end, each by its own index."""
        found: list[int] = []
        for part, kept in zip(self._parts, self._numbering.kept, strict=True):
            whole = len(kept) == part.count
            found += part.bounds if whole else [place for at in kept for place in part.spans[at]]
        return found

    @cached_property
    def vectors(self) -> LeadingVectors:
        """The vectors of all skills."""
        return LeadingVectors([part.rows for part in self._parts], self._numbering)

    def term(self, text: str) -> int | None:
        """The number of a term."""
        if text not in self._known:
            found = found_in(self._tables, *spelled(text))
            self._known[text] = self._add(text, found) if found else None
        return self._known[text]

    def _add(self, text: str, found: dict[int, int]) -> int:
        more = self._unseen.having.get(text, 0)
        there = [(self._parts[at], number) for at, number in found.items()]
        self.brief.append(more + sum([part.brief[number] for part, number in there]))
        self.having.append(more + sum([part.having[number] for part, number in there]))
        self.named.append(sum([part.named[number] for part, number in there]))
        self._where.append(found)
        return len(self._where) - 1

    def likely(self, shares: Mapping[int, float], limit: int) -> list[int]:
        """The skills that terms add most to, as far as they are listed; each term counts by its share."""
        spans: list[list[Span]] = [[] for _ in self._parts]
        for term, share in shares.items():
            for at, first, end, times in self._lists(term):
                spans[at].append((first, end, times, share))
        scores = Likely(self._parts, spans, limit).scores(self._numbering.numbers, self._numbering.gone)
        return highest(scores, limit)

    def _lists(self, term: int) -> list[tuple[int, int, int, float]]:
        """Which indexes list a term, where, and what the adds there are multiplied by to be those of one index."""
        if term not in self._listed:
            if len(self._listed) >= _LISTS_KEPT:
                self._listed.clear()
            share = min(1.0, LISTED / max(1, self.having[term]))
            rarity = _rarity(self.total, self.brief[term], self.having[term])
            found = self._listed[term] = []
            for at, number in self._where[term].items():
                part = self._parts[at]
                first, end = part.listed(number)
                having = part.having[number]
                end = min(end, first + max(FEWEST, int(share * having)))
                found.append((at, first, end, rarity / _rarity(part.count, part.brief[number], having)))
        return self._listed[term]

    def places(self, document: int, terms: Sequence[int]) -> dict[int, list[int]]:
        """The positions in a skill's text of those terms that it has."""
        at, local = self._numbering.locate(document)
        where = self._where
        there = {where[term][at]: term for term in terms if at in where[term]}
        found = self._parts[at].places(local, sorted(there))
        return {there[number]: positions for number, positions in found.items()}

    def short_length(self, document: int) -> int:
        """The number of terms in a skill's short text."""
        at, local = self._numbering.locate(document)
        return self._parts[at].short_length(local)

    def parent(self, document: int) -> int | None:
        """The skill whose folder contains a skill."""
        at, local = self._numbering.locate(document)
        found = self._parts[at].parent(local)
        return None if found is None else next(iter(self._here(at, [found])), None)

    def partners(self, document: int) -> list[int]:
        """The skills of the same index that a skill names or is named by."""
        at, local = self._numbering.locate(document)
        return self._here(at, self._parts[at].partners(local))

    def needs(self, document: int) -> list[int]:
        """The skills of the same index that a skill says it is used with."""
        at, local = self._numbering.locate(document)
        return self._here(at, self._parts[at].needs(local))

    def _here(self, part: int, locals_: Sequence[int]) -> list[int]:
        numbers = self._numbering.numbers[part]
        return [number for local in locals_ if (number := numbers[local]) != DEAD]


@lru_cache(_RARITIES_KEPT)
def _rarity(count: int, brief: int, having: int) -> float:
    """How much a term counts in a short and a whole text together."""
    count = max(count, MIN_POOL)
    return idf(count, brief) + WHOLE * idf(count, having)
