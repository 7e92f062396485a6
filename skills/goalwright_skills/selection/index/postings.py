"""The words of all skills as one memory-mapped file: the terms of each skill, their weights and positions.

    head       length-prefixed JSON: version, digest of the pool, position of each section
    docs       JSON: each skill's name, path and stamp, its referrals and the skills that it mentions
    terms      all terms, sorted, with their offsets and a hash table, see `term_table`
    postings   by term: the start of its skills, the number of skills that have it in their short texts, whole texts and
               names; the skills that it adds most to, most first, and what it adds to their scores
    positions  by skill: its term numbers, sorted, and the position of each in its text, the short text first
    relations  by skill: its parent folder's skill, the skills that it mentions or is mentioned by, and that it requires
    vectors    by skill: its vector, one byte per dimension; and the same by dimension, see `vectors` and `leading`

Only numbers and text are read from it, so a hostile file can give wrong ranks but cannot run code. `building` writes
it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.discovery.index import write
from goalwright_skills.selection.index.leading import LEADING, Rows
from goalwright_skills.selection.index.likely import added, highest
from goalwright_skills.selection.index.term_table import TermTable, spelled
from goalwright_skills.selection.index.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

VERSION = 15
SECTIONS = (
    "docs", "text", "bounds", "slots", "counts", "ids", "adds", "sorted", "positions", "spans",
    "parents", "links", "linked", "needs", "needed", "vectors", "columns", "leading", "sums",
)  # fmt: skip
NOBODY = 0xFFFFFFFF
# The numbers per term in `counts`.
_COUNTS = 4
# The number of cached term lookups.
_LOOKUP_LIMIT = 50_000


def digest(skills: Sequence[Skill], encoder: str) -> str:
    """Return a hash of a pool of skills and the encoder of their vectors."""
    stamps = "\0".join(f"{skill.name}\0{skill.file}\0{skill.stamp}" for skill in skills)
    return hashlib.sha256(f"{encoder}\0{stamps}".encode("utf-8", "surrogatepass")).hexdigest()


def cacheable(skills: Sequence[Skill]) -> bool:
    """Whether every skill has a file stamp that reveals changes."""
    return all(skill.stamp not in (NONE, RACY) for skill in skills)


class Postings:
    """The sections of one file, read as numbers."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        view = memoryview(data)
        size = int.from_bytes(view[:8], "little")
        head: dict[str, Any] = json.loads(bytes(view[8 : 8 + size]))
        if head["version"] != VERSION:
            raise ValueError(head["version"])
        self.digest: str = head["digest"]
        self.encoder: str = head["encoder"]
        self._parts = {name: view[start:end] for name, (start, end) in head["sections"].items()}
        self._text = self._parts["text"]
        self._bounds = self._parts["bounds"].cast("I")
        self.table = TermTable(self._text, self._bounds, self._parts["slots"].cast("I"))
        counts = self._parts["counts"].cast("I")
        self._starts, self.brief, self.having, self.named = (counts[column::_COUNTS] for column in range(_COUNTS))
        self.ids = self._parts["ids"].cast("I")
        self.adds = self._parts["adds"].cast("f")
        self._sorted = self._parts["sorted"].cast("I")
        self._positions = self._parts["positions"].cast("I")
        self._parents = self._parts["parents"].cast("I")
        self._links = self._parts["links"].cast("I")
        self._linked = self._parts["linked"].cast("I")
        self._needs = self._parts["needs"].cast("I")
        self._needed = self._parts["needed"].cast("I")
        self.bounds = spans = self._parts["spans"].cast("I").tolist()
        self.spans = list(zip(spans[::3], spans[1::3], spans[2::3], strict=True))
        self.count = self.total = len(self.spans)
        self.vectors = Vectors(self._parts["vectors"], self._parts["columns"], self.count)
        if len(self._bounds) != len(self._starts):
            raise ValueError("terms of another index")
        self._known: dict[str, int | None] = {}

    def term(self, text: str) -> int | None:
        """Return the number of a term; cached, since it is looked up for the goal and for each candidate."""
        if text not in self._known:
            if len(self._known) >= _LOOKUP_LIMIT:
                self._known.clear()
            self._known[text] = self.table.find(*spelled(text))
        return self._known[text]

    @property
    def rows(self) -> Rows:
        """The vectors, to compare together with those of other indexes."""
        leading, sums = self._parts["leading"], self._parts["sums"].cast("I").tolist()
        if len(sums) != self.vectors.dimensions or len(leading) != 2 * self.count * min(len(sums), LEADING):
            raise ValueError("vectors of another pool")
        return Rows(self._parts["vectors"], self.count, leading, sums)

    def listed(self, term: int) -> tuple[int, int]:
        """Return the range of a term in `ids` and `adds`."""
        return self._starts[term], self._starts[term + 1]

    def likely(self, shares: Mapping[int, float], limit: int) -> list[int]:
        """Return the listed skills with the highest scores for these terms, weighted by their shares."""
        spans = [(*self.listed(term), 1.0, share) for term, share in shares.items()]
        return highest(added(self, spans, limit), limit)

    def places(self, document: int, terms: Sequence[int]) -> dict[int, list[int]]:
        """Return the positions of terms in a skill's text; the terms must be sorted."""
        first, _, end = self.spans[document]
        numbers, positions = self._sorted, {}
        for term in terms:
            first = bisect_left(numbers, term, first, end)
            if first == end:
                break
            if numbers[first] == term:
                last = bisect_right(numbers, term, first, end)
                positions[term] = self._positions[first:last].tolist()
                first = last
        return positions

    def short_length(self, document: int) -> int:
        """Return the number of terms in a skill's short text."""
        start, short, _ = self.spans[document]
        return short - start

    def parent(self, document: int) -> int | None:
        """Return the skill whose folder contains a skill."""
        parent = self._parents[document]
        return parent if parent != NOBODY else None

    def partners(self, document: int) -> list[int]:
        """Return the skills that a skill mentions or is mentioned by."""
        return self._links[self._linked[document] : self._linked[document + 1]].tolist()

    def needs(self, document: int) -> list[int]:
        """Return the skills that a skill requires."""
        return self._needs[self._needed[document] : self._needed[document + 1]].tolist()

    def vector(self, document: int) -> bytes:
        """Return a skill's vector; empty without an encoder."""
        size = self.vectors.dimensions
        return bytes(self._parts["vectors"][document * size : (document + 1) * size])

    def tokens(self, document: int) -> list[int]:
        """Return a skill's terms in order."""
        start, _, end = self.spans[document]
        text = [0] * (end - start)
        sorted_terms, positions = self._sorted[start:end].tolist(), self._positions[start:end].tolist()
        for position, term in zip(positions, sorted_terms, strict=True):
            text[position] = term
        return text

    def docs(self) -> list[list[Any]]:
        """Return each skill's name, path, stamp, own short length, referrals, mentions and needs."""
        rows: list[list[Any]] = json.loads(bytes(self._parts["docs"]))
        return rows

    def vocabulary(self) -> list[str]:
        """Return all terms in the order of their numbers."""
        text = bytes(self._text)
        bounds = self._bounds.tolist()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def open_file(path: Path) -> Postings | None:
    """Map the file into memory; None if it is missing or corrupt."""
    try:
        with path.open("rb") as file:
            return Postings(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        IndexError,
        RecursionError,
        OverflowError,
    ):
        return None


def save(path: Path, data: bytes) -> None:
    """Write the file, ignoring a cache that is not writable."""
    with contextlib.suppress(OSError):
        write(path, data)
