"""The words of all skills as one memory-mapped file: which skill has which term, how often and where.

    head       length-prefixed JSON: version, pool digest, where each section is
    docs       JSON: each skill's name, path and stamp, and what it says about others
    terms      all terms, sorted, with their offsets: found by bisection
    postings   by term: skill numbers, counts in the short text, counts in the whole text
    positions  by skill: its term numbers, sorted, and the position of each in its text, the short text first

Only numbers and text are read from it, so a hostile file can give wrong ranks but cannot run code. After a change
the new file is made from the old one's positions; only new or changed skills are read and stemmed again.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import mmap
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from skills.discovery.file_stamp import NONE, RACY
from skills.discovery.index import write
from skills.discovery.skill_file import read_all
from skills.format import frontmatter
from skills.selection.descriptions import cut, spoken_name, when_to_use
from skills.selection.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skills.skill import Skill

VERSION = 8
BODY_LIMIT = 200_000
_SECTIONS = ("docs", "text", "bounds", "starts", "ids", "short", "whole", "sorted", "positions", "spans")
# How many looked-up terms are cached.
_LOOKUP_LIMIT = 50_000


@dataclass(frozen=True, slots=True)
class SkillTerms:
    """A skill's own terms, and its referrals: another skill's name, what that is for, and the whole clause."""

    short: list[str]
    body: list[str]
    referrals: list[tuple[str, list[str], list[str]]] = field(default_factory=list)


def skill_terms(skill: Skill) -> SkillTerms:
    """A skill's text as terms; an unreadable body is treated as empty."""
    clauses = cut(skill.description)
    when = cut(when_to_use(skill))
    name = terms(spoken_name(skill))
    found = (*clauses.referrals, *when.referrals)
    referrals = [(each.other, terms(each.subject), terms(each.clause)) for each in found]
    body = ""
    if skill.kind == "context":
        with contextlib.suppress(OSError):
            body = frontmatter.split(frontmatter.decode(read_all(skill.path))[:BODY_LIMIT]).body
    return SkillTerms(name * 3 + terms(clauses.own) + terms(when.own), terms(body), referrals)


def digest(skills: Sequence[Skill]) -> str:
    """A hash that identifies a pool of skills."""
    stamps = "\0".join(f"{skill.name}\0{skill.file}\0{skill.stamp}" for skill in skills)
    return hashlib.sha256(stamps.encode("utf-8", "surrogatepass")).hexdigest()


def cacheable(skills: Sequence[Skill]) -> bool:
    """Whether every skill has a stamp that would reveal a change."""
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
        self._parts = {name: view[start:end] for name, (start, end) in head["sections"].items()}
        self._text = self._parts["text"]
        self._bounds = self._parts["bounds"].cast("I")
        self._starts = self._parts["starts"].cast("I")
        self.ids = self._parts["ids"].cast("I")
        self.short = self._parts["short"]
        self.whole = self._parts["whole"]
        self._sorted = self._parts["sorted"].cast("I")
        self._positions = self._parts["positions"].cast("I")
        spans = self._parts["spans"].cast("I").tolist()
        self.spans = list(zip(spans[::3], spans[1::3], spans[2::3], strict=True))
        self.count = len(self.spans)
        self._known: dict[str, int | None] = {}

    def term(self, text: str) -> int | None:
        """The number of a term; cached, because it is looked up for the goal and again for each skill found."""
        if text not in self._known:
            if len(self._known) >= _LOOKUP_LIMIT:
                self._known.clear()
            self._known[text] = self._find(text)
        return self._known[text]

    def _find(self, text: str) -> int | None:
        wanted = text.encode("utf-8", "surrogatepass")
        low, high = 0, len(self._bounds) - 1
        while low < high:
            middle = (low + high) // 2
            here = bytes(self._text[self._bounds[middle] : self._bounds[middle + 1]])
            if here == wanted:
                return middle
            low, high = (middle + 1, high) if here < wanted else (low, middle)
        return None

    def range(self, term: int) -> tuple[int, int]:
        """Where a term's postings begin and end."""
        return self._starts[term], self._starts[term + 1]

    def positions(self, document: int, term: int) -> list[int]:
        """The positions of a term in a skill's text."""
        start, _, end = self.spans[document]
        first = bisect_left(self._sorted, term, start, end)
        if first == end or self._sorted[first] != term:
            return []
        return self._positions[first : bisect_right(self._sorted, term, first, end)].tolist()

    def short_length(self, document: int) -> int:
        """The number of terms in a skill's short text."""
        start, short, _ = self.spans[document]
        return short - start

    def tokens(self, document: int) -> list[int]:
        """A skill's terms in order."""
        start, _, end = self.spans[document]
        text = [0] * (end - start)
        sorted_terms, positions = self._sorted[start:end].tolist(), self._positions[start:end].tolist()
        for position, term in zip(positions, sorted_terms, strict=True):
            text[position] = term
        return text

    def docs(self) -> list[list[Any]]:
        """Each skill's name, path, stamp and own short length, and its referrals."""
        found: list[list[Any]] = json.loads(bytes(self._parts["docs"]))
        return found

    def vocabulary(self) -> list[str]:
        """All terms in the order of their numbers."""
        text = bytes(self._text)
        bounds = self._bounds.tolist()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def open_file(path: Path) -> Postings | None:
    """The file mapped into memory, or None if it is missing or not usable."""
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
    """Save the file; a cache that cannot be written is skipped."""
    with contextlib.suppress(OSError):
        write(path, data)


def build(skills: Sequence[Skill], old: Postings | None = None) -> bytes:
    """The file of these skills, reusing what `old` has of unchanged ones."""
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects and no garbage: collecting would take most of the time
    try:
        return _build(skills, _reusable(old) if old is not None else {})
    finally:
        if collecting:
            gc.enable()


def _build(skills: Sequence[Skill], known: Mapping[tuple[str, str, int], SkillTerms]) -> bytes:
    sources = [known.get((skill.file, skill.name, skill.stamp)) or skill_terms(skill) for skill in skills]
    referred: list[list[str]] = [[] for _ in skills]
    number = {skill.name: at for at, skill in enumerate(skills)}
    for at, each in enumerate(sources):
        for other, subject, clause in each.referrals:
            # "For X, see Y" is about Y only if Y is a skill; otherwise its words are the skill's own.
            target = number.get(other, at)
            referred[target] += clause if target == at else subject
    words = {word for each in sources for text in (each.short, each.body) for word in text}.union(*referred)
    table = _Table(sorted(words))
    for each, more in zip(sources, referred, strict=True):
        table.add(each.short + more, each.body)
    docs = [
        [skill.name, skill.file, skill.stamp, len(each.short), each.referrals]
        for skill, each in zip(skills, sources, strict=True)
    ]
    return table.pack(digest(skills), docs)


class _Table:
    """The sections of a file under construction."""

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self.number = {word: at for at, word in enumerate(vocabulary)}
        self.ids = [array("I") for _ in vocabulary]
        self.short = [bytearray() for _ in vocabulary]
        self.whole = [bytearray() for _ in vocabulary]
        self.sorted, self.positions, self.spans = array("I"), array("I"), array("I")
        self.count = 0

    def add(self, short: list[str], body: list[str]) -> None:
        """Add a skill's two texts."""
        start, brief = len(self.sorted), len(short)
        where: dict[int, list[int]] = {}
        for position, term in enumerate(map(self.number.__getitem__, short + body)):
            if term in where:
                where[term].append(position)
            else:
                where[term] = [position]
        for term in sorted(where):
            positions = where[term]
            count = len(positions)
            self.ids[term].append(self.count)
            self.short[term].append(min(bisect_left(positions, brief), 255) if positions[0] < brief else 0)
            self.whole[term].append(count if count < 255 else 255)
            self.sorted.extend([term] * count)
            self.positions.extend(positions)
        self.spans.extend((start, start + brief, len(self.sorted)))
        self.count += 1

    def pack(self, digest: str, docs: list[list[Any]]) -> bytes:
        """The whole file."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in self.vocabulary]
        bounds = array("I", accumulate(map(len, encoded), initial=0))
        starts = array("I", accumulate(map(len, self.ids), initial=0))
        text, ids = b"".join(encoded), b"".join(map(bytes, self.ids))
        short, whole = b"".join(self.short), b"".join(self.whole)
        numbers = [bytes(part) for part in (self.sorted, self.positions, self.spans)]
        parts = (json.dumps(docs).encode(), text, bytes(bounds), bytes(starts), ids, short, whole, *numbers)
        return _layout(digest, dict(zip(_SECTIONS, parts, strict=True)))


def _layout(digest: str, parts: Mapping[str, bytes]) -> bytes:
    """Head and sections, each on an eight-byte boundary; the head is padded to a fixed length."""
    room = 2_048
    at, sections, padded_parts = 8 + room, {}, []
    for name, part in parts.items():
        sections[name] = (at, at + len(part))
        padded = part + b"\0" * (-len(part) % 8)
        padded_parts.append(padded)
        at += len(padded)
    head = json.dumps({"version": VERSION, "digest": digest, "sections": sections}).encode().ljust(room)
    return b"".join((room.to_bytes(8, "little"), head, *padded_parts))


def _reusable(old: Postings) -> dict[tuple[str, str, int], SkillTerms]:
    """What the old file has, by path, name and stamp; stops at the first entry that makes no sense."""
    found: dict[tuple[str, str, int], SkillTerms] = {}
    with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
        words = old.vocabulary()
        for at, (name, path, stamp, own, referrals) in enumerate(old.docs()):
            if stamp in (NONE, RACY):
                continue
            short = old.short_length(at)
            text = [words[token] for token in old.tokens(at)]
            known = [
                (str(other), list(map(str, subject)), list(map(str, clause))) for other, subject, clause in referrals
            ]
            found[path, name, stamp] = SkillTerms(text[:own], text[short:], known)
    return found
