"""The words of all skills as one file, mapped into memory: who has which term, how often, in what order.

    head    length-prefixed JSON: version, pool digest, where each section lies
    docs    JSON: each skill's name, path and stamp, and what it says of others
    terms   all terms, sorted, with their offsets: found by bisection
    postings  by term: skill numbers, counts in the short text, counts in the whole text
    places  by skill: its term numbers, sorted, and where in its text each stands, the short text first

Only numbers and text are read from it, so a hostile file can give wrong ranks but run nothing. On a change
the new file is made from the old one's places; only new or changed skills are read and stemmed again.
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
from skills.selection.descriptions import cut
from skills.selection.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skills.skill import Skill

VERSION = 7
BODY_LIMIT = 200_000
_SECTIONS = ("docs", "text", "bounds", "starts", "ids", "short", "whole", "sorted", "places", "spans")
# Terms whose number is remembered.
_MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class Source:
    """A skill's own terms; and its referrals: another's name, what that one is for, and all that is said there."""

    short: list[str]
    body: list[str]
    referrals: list[tuple[str, list[str], list[str]]] = field(default_factory=list)


def source(skill: Skill) -> Source:
    """A skill's text as terms; an unreadable body counts as none."""
    clauses = cut(skill.description)
    when = cut(str(skill.extra.get("when_to_use") or skill.extra.get("when-to-use") or ""))
    name = terms(skill.name.replace("-", " ").replace("_", " "))
    said = (*clauses.referrals, *when.referrals)
    referrals = [(each.other, terms(each.subject), terms(each.clause)) for each in said]
    body = ""
    if skill.kind == "context":
        with contextlib.suppress(OSError):
            body = frontmatter.split(frontmatter.decode(read_all(skill.path))[:BODY_LIMIT]).body
    return Source(name * 3 + terms(clauses.own) + terms(when.own), terms(body), referrals)


def digest(skills: Sequence[Skill]) -> str:
    """What tells one pool of skills from another."""
    marks = "\0".join(f"{skill.name}\0{skill.file}\0{skill.stamp}" for skill in skills)
    return hashlib.sha256(marks.encode("utf-8", "surrogatepass")).hexdigest()


def sure(skills: Sequence[Skill]) -> bool:
    """Whether all skills carry a stamp by which a change would be seen."""
    return all(skill.stamp not in (NONE, RACY) for skill in skills)


class Postings:
    """The sections of one file, as numbers."""

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
        self._paths = self._parts["places"].cast("I")
        spans = self._parts["spans"].cast("I").tolist()
        self.spans = list(zip(spans[::3], spans[1::3], spans[2::3], strict=True))
        self.count = len(self.spans)
        self._known: dict[str, int | None] = {}

    def term(self, text: str) -> int | None:
        """The number of a term; each is asked for once for a goal and again for each skill that is found."""
        if text not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[text] = self._found(text)
        return self._known[text]

    def _found(self, text: str) -> int | None:
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

    def places(self, document: int, term: int) -> list[int]:
        """Where in a skill's text a term stands."""
        start, _, end = self.spans[document]
        first = bisect_left(self._sorted, term, start, end)
        if first == end or self._sorted[first] != term:
            return []
        return self._paths[first : bisect_right(self._sorted, term, first, end)].tolist()

    def short_length(self, document: int) -> int:
        """How many terms the skill's short text has."""
        start, short, _ = self.spans[document]
        return short - start

    def tokens(self, document: int) -> list[int]:
        """A skill's terms in order."""
        start, _, end = self.spans[document]
        text = [0] * (end - start)
        for place, term in zip(self._paths[start:end].tolist(), self._sorted[start:end].tolist(), strict=True):
            text[place] = term
        return text

    def docs(self) -> list[list[Any]]:
        """Each skill's name, path, stamp and own short length, and its referrals."""
        found: list[list[Any]] = json.loads(bytes(self._parts["docs"]))
        return found

    def vocabulary(self) -> list[str]:
        """All terms by their number."""
        text = bytes(self._text)
        bounds = self._bounds.tolist()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def open_file(path: Path) -> Postings | None:
    """The file mapped into memory, or None where it is missing or not one of ours."""
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
    """Keep the file; a cache that cannot be written is done without."""
    with contextlib.suppress(OSError):
        write(path, data)


def build(skills: Sequence[Skill], old: Postings | None = None) -> bytes:
    """The file of these skills, taking over what `old` knows of those that did not change."""
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects and no garbage: looking for it takes most of the time
    try:
        return _build(skills, _recall(old) if old is not None else {})
    finally:
        if collecting:
            gc.enable()


def _build(skills: Sequence[Skill], known: Mapping[tuple[str, str, int], Source]) -> bytes:
    sources = [known.get((skill.file, skill.name, skill.stamp)) or source(skill) for skill in skills]
    said: list[list[str]] = [[] for _ in skills]
    number = {skill.name: at for at, skill in enumerate(skills)}
    for at, each in enumerate(sources):
        for other, subject, clause in each.referrals:
            # "For X, see Y" tells of Y only where Y is a skill; else those are words like others.
            known_as = number.get(other, at)
            said[known_as] += clause if known_as == at else subject
    table = _Table(sorted({word for each in sources for text in (each.short, each.body) for word in text}.union(*said)))
    for each, more in zip(sources, said, strict=True):
        table.add(each.short + more, each.body)
    docs = [
        [skill.name, skill.file, skill.stamp, len(each.short), each.referrals]
        for skill, each in zip(skills, sources, strict=True)
    ]
    return table.pack(digest(skills), docs)


class _Table:
    """The sections of a file that is being made."""

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self.number = {word: at for at, word in enumerate(vocabulary)}
        self.ids = [array("I") for _ in vocabulary]
        self.short = [bytearray() for _ in vocabulary]
        self.whole = [bytearray() for _ in vocabulary]
        self.sorted, self.places, self.spans = array("I"), array("I"), array("I")
        self.count = 0

    def add(self, short: list[str], body: list[str]) -> None:
        """Add a skill's two texts."""
        start, brief = len(self.sorted), len(short)
        where: dict[int, list[int]] = {}
        for place, term in enumerate(map(self.number.__getitem__, short + body)):
            if term in where:
                where[term].append(place)
            else:
                where[term] = [place]
        for term in sorted(where):
            places = where[term]
            count = len(places)
            self.ids[term].append(self.count)
            self.short[term].append(min(bisect_left(places, brief), 255) if places[0] < brief else 0)
            self.whole[term].append(count if count < 255 else 255)
            self.sorted.extend([term] * count)
            self.places.extend(places)
        self.spans.extend((start, start + brief, len(self.sorted)))
        self.count += 1

    def pack(self, mark: str, docs: list[list[Any]]) -> bytes:
        """The whole file."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in self.vocabulary]
        bounds = array("I", accumulate(map(len, encoded), initial=0))
        starts = array("I", accumulate(map(len, self.ids), initial=0))
        text, ids = b"".join(encoded), b"".join(map(bytes, self.ids))
        short, whole = b"".join(self.short), b"".join(self.whole)
        numbers = [bytes(part) for part in (self.sorted, self.places, self.spans)]
        parts = (json.dumps(docs).encode(), text, bytes(bounds), bytes(starts), ids, short, whole, *numbers)
        return _lay(mark, dict(zip(_SECTIONS, parts, strict=True)))


def _lay(mark: str, parts: Mapping[str, bytes]) -> bytes:
    """Head and sections, each on an eight-byte boundary. The head's own length is settled by padding it."""
    room = 2_048
    at, sections, laid = 8 + room, {}, []
    for name, part in parts.items():
        sections[name] = (at, at + len(part))
        padded = part + b"\0" * (-len(part) % 8)
        laid.append(padded)
        at += len(padded)
    head = json.dumps({"version": VERSION, "digest": mark, "sections": sections}).encode().ljust(room)
    return b"".join((room.to_bytes(8, "little"), head, *laid))


def _recall(old: Postings) -> dict[tuple[str, str, int], Source]:
    """What the old file knows, by path, name and stamp; nothing where it is not sound."""
    found: dict[tuple[str, str, int], Source] = {}
    with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
        words = old.vocabulary()
        for at, (name, path, mark, own, referrals) in enumerate(old.docs()):
            if mark in (NONE, RACY):
                continue
            short = old.short_length(at)
            text = [words[token] for token in old.tokens(at)]
            said = [
                (str(other), list(map(str, subject)), list(map(str, clause))) for other, subject, clause in referrals
            ]
            found[path, name, mark] = Source(text[:own], text[short:], said)
    return found
