"""The words of all skills as one file, mapped into memory: who has which term, how often, in what order.

    head    length-prefixed JSON: version, pool digest, where each section lies
    docs    JSON: each skill's name, path and stamp, and what it says of others
    terms   all terms, sorted, with their offsets: found by bisection
    postings  by term: skill numbers, counts in the short text, counts in the whole text
    tokens  by skill: its term numbers in order, the short text first

Only numbers and text are read from it, so a hostile file can give wrong ranks but run nothing. On a change
the new file is made from the old one's tokens; only new or changed skills are read and stemmed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skills import frontmatter
from skills.clauses import cut
from skills.context import read_all
from skills.index import write
from skills.stamp import NONE, RACY
from skills.words import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skills.skill import Skill

VERSION = 2
BODY_LIMIT = 200_000
_SECTIONS = ("docs", "text", "bounds", "starts", "ids", "short", "whole", "tokens", "spans")


@dataclass(frozen=True, slots=True)
class Source:
    """A skill's own terms, and by other skills' names the terms it says they are for."""

    short: list[str]
    body: list[str]
    referrals: list[tuple[str, list[str]]] = field(default_factory=list)


def source(skill: Skill) -> Source:
    """A skill's text as terms; an unreadable body counts as none."""
    clauses = cut(skill.description)
    when = cut(str(skill.extra.get("when_to_use") or skill.extra.get("when-to-use") or ""))
    name = terms(skill.name.replace("-", " ").replace("_", " "))
    referrals = [(other, terms(text)) for other, text in (*clauses.referrals, *when.referrals)]
    body = ""
    if skill.kind == "context":
        with contextlib.suppress(OSError):
            body = frontmatter.split(frontmatter.decode(read_all(skill.path))[:BODY_LIMIT]).body
    return Source(name * 3 + terms(clauses.own) + terms(when.own), terms(body), referrals)


def digest(skills: Sequence[Skill]) -> str:
    """What tells one pool of skills from another."""
    marks = "\0".join(f"{skill.name}\0{skill.path}\0{skill.stamp}" for skill in skills)
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
        self._tokens = self._parts["tokens"].cast("I")
        spans = self._parts["spans"].cast("I").tolist()
        self.spans = list(zip(spans[::3], spans[1::3], spans[2::3], strict=True))
        self.count = len(self.spans)

    def term(self, text: str) -> int | None:
        """The number of a term."""
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

    def tokens(self, document: int) -> tuple[list[int], int]:
        """A skill's terms in order, and how many of them are its short text."""
        start, short, end = self.spans[document]
        return self._tokens[start:end].tolist(), short - start

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
    known = _recall(old) if old is not None else {}
    sources = [known.get((str(skill.path), skill.name, skill.stamp)) or source(skill) for skill in skills]
    said: dict[str, list[str]] = {}
    for each in sources:
        for other, words in each.referrals:
            said.setdefault(other, []).extend(words)
    shorts = [each.short + said.get(skill.name, []) for skill, each in zip(skills, sources, strict=True)]
    vocabulary = sorted({word for short, each in zip(shorts, sources, strict=True) for word in (*short, *each.body)})
    number = {word: at for at, word in enumerate(vocabulary)}
    tokens, spans = array("I"), array("I")
    postings: list[list[tuple[int, int, int]]] = [[] for _ in vocabulary]
    for at, (short, each) in enumerate(zip(shorts, sources, strict=True)):
        start = len(tokens)
        own = [number[word] for word in short]
        tokens.extend(own)
        tokens.extend([number[word] for word in each.body])
        spans.extend((start, start + len(own), len(tokens)))
        few = Counter(own)
        for term, times in Counter(tokens[start:]).items():
            postings[term].append((at, min(few[term], 255), min(times, 255)))
    docs = [
        [skill.name, str(skill.path), skill.stamp, len(each.short), each.referrals]
        for skill, each in zip(skills, sources, strict=True)
    ]
    return _pack(digest(skills), docs, vocabulary, (postings, tokens, spans))


def _pack(
    mark: str, docs: list[list[Any]], vocabulary: list[str], numbers: tuple[Any, array[int], array[int]]
) -> bytes:
    postings, tokens, spans = numbers
    encoded = [word.encode("utf-8", "surrogatepass") for word in vocabulary]
    bounds, starts, ids = array("I", [0]), array("I", [0]), array("I")
    short, whole = bytearray(), bytearray()
    for word, rows in zip(encoded, postings, strict=True):
        bounds.append(bounds[-1] + len(word))
        for at, few, times in rows:
            ids.append(at)
            short.append(few)
            whole.append(times)
        starts.append(len(ids))
    parts = (json.dumps(docs).encode(), b"".join(encoded), bounds, starts, ids, short, whole, tokens, spans)
    return _lay(mark, dict(zip(_SECTIONS, map(bytes, parts), strict=True)))


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
            tokens, short = old.tokens(at)
            text = [words[token] for token in tokens]
            said = [(str(other), [str(word) for word in listed]) for other, listed in referrals]
            found[path, name, mark] = Source(text[:own], text[short:], said)
    return found
