"""Several indexes read as one: numbers of skills and terms are the pool's, rarities those of all skills together."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from weft_skills.selection.index.leading import LeadingVectors
from weft_skills.selection.index.numbering import DEAD, Numbering
from weft_skills.selection.index.term_table import spelled
from weft_skills.selection.index.weights import MIN_POOL, WHOLE, idf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_skills.selection.index.postings import Postings

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
        # For each term the indexes that have it, its number there, and what its adds there are multiplied by.
        self._where: list[list[tuple[int, int, float]]] = []
        self._local: list[dict[int, int]] = [{} for _ in parts]
        self._known: dict[str, int | None] = {}
        self._lists: dict[int, tuple[array[int], array[float]]] = {}

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
            word, hashed = spelled(text)
            numbers = [part.find(word, hashed) for part in self._parts]
            found = [(at, number) for at, number in enumerate(numbers) if number is not None]
            self._known[text] = self._add(text, found) if found else None
        return self._known[text]

    def _add(self, text: str, found: Sequence[tuple[int, int]]) -> int:
        term, more = len(self._where), self._unseen.having.get(text, 0)
        self.brief.append(more + sum(self._parts[at].brief[number] for at, number in found))
        self.having.append(more + sum(self._parts[at].having[number] for at, number in found))
        self.named.append(sum(self._parts[at].named[number] for at, number in found))
        rarity = _rarity(self.total, self.brief[term], self.having[term])
        where = []
        for at, number in found:
            part = self._parts[at]
            self._local[at][term] = number
            where.append((at, number, rarity / _rarity(part.count, part.brief[number], part.having[number])))
        self._where.append(where)
        return term

    def listed(self, term: int) -> tuple[list[int], Sequence[float]]:
        """The skills that a term adds most to, and what it adds to each, as if the pool were one index."""
        if term not in self._lists:
            if len(self._lists) >= _LISTS_KEPT:
                self._lists.clear()
            self._lists[term] = self._listed(term)
        ids, adds = self._lists[term]
        return ids.tolist(), adds.tolist()

    def _listed(self, term: int) -> tuple[array[int], array[float]]:
        ids, adds = array("I"), array("f")
        share = min(1.0, LISTED / max(1, self.having[term]))
        for at, number, times in self._where[term]:
            part = self._parts[at]
            there, more = part.listed(number, max(FEWEST, int(share * part.having[number])))
            numbers = self._numbering.numbers[at]
            if not isinstance(numbers, range):  # some of its skills are gone
                alive = [(one, add) for one, add in zip(there, more, strict=True) if numbers[one] != DEAD]
                there, more = [one for one, _ in alive], [add for _, add in alive]
            ids.extend(map(numbers.__getitem__, there))
            adds.extend([times * add for add in more])
        return ids, adds

    def positions(self, document: int, term: int) -> list[int]:
        """The positions of a term in a skill's text."""
        return self.places(document, [term]).get(term, [])

    def places(self, document: int, terms: Sequence[int]) -> dict[int, list[int]]:
        """The positions in a skill's text of those terms that it has."""
        at, local = self._numbering.locate(document)
        known = self._local[at]
        there = {known[term]: term for term in terms if term in known}
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
        return next(iter(self._here(at, [] if found is None else [found])), None)

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
