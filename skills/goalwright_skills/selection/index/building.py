"""Builds the index file: the terms of all skills, their adds to the scores, and the relations between skills.

After a change only new and changed skills are read and stemmed; the others are taken from the old file.
"""

from __future__ import annotations

import contextlib
import gc
import json
from array import array
from collections import Counter
from functools import cache
from itertools import accumulate, chain, compress, pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.selection.index import leading, nesting, weights
from goalwright_skills.selection.index.descriptions import spoken_name
from goalwright_skills.selection.index.postings import NOBODY, SECTIONS, VERSION, digest
from goalwright_skills.selection.index.skill_text import SkillTerms, skill_terms
from goalwright_skills.selection.index.term_table import slots_of
from goalwright_skills.selection.index.vectors import columns
from goalwright_skills.selection.query.terms import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.selection.index.postings import Postings
    from goalwright_skills.skill import Skill

    Reader = Callable[[Skill, Table | None], SkillTerms]
    from collections.abc import Iterator


# A common word adds next to nothing to most skills: it lists one in this many skills, and at least a few hundred.
LISTED, FEWEST = 5, 300
# Scales an add to less than one: among a billion skills it is below 400.
_FRACTION = 1 / 1024

_BUNDLED: dict[tuple[str, int, str], SkillTerms] = {}


def build(
    skills: Sequence[Skill],
    table: Table | None = None,
    old: Postings | None = None,
    *,
    read: Reader | None = None,
    among_others: bool = False,
) -> bytes:
    """Build the index of these skills, with vectors by `table`; unchanged skills are taken from `old`.

    `read` reads a skill, by default its whole text. An index `among_others` is searched together with other indexes.
    """
    with not_collected():
        known = _reusable(old, encoder_name(table)) if old is not None else {}
        sources = [
            known.get((skill.file, skill.name, skill.stamp)) or (read or _terms)(skill, table) for skill in skills
        ]
        return _build(skills, sources, table, among_others=among_others)


def encoder_name(table: Table | None) -> str:
    """Return the name of the encoder of a pool's vectors; empty without one."""
    return table.name if table is not None else ""


def _build(skills: Sequence[Skill], sources: Sequence[SkillTerms], table: Table | None, *, among_others: bool) -> bytes:
    referred: list[list[str]] = [[] for _ in skills]
    number = {skill.name: document for document, skill in enumerate(skills)}
    for document, source in enumerate(sources):
        for other, subject, clause in source.referrals:
            # "For X, see Y" is about Y only if Y is a skill; otherwise the words belong to this skill.
            target = number.get(other, document)
            referred[target] += clause if target == document else subject
    texts = [(source.short + subjects, source.body) for source, subjects in zip(sources, referred, strict=True)]
    postings = sections([terms(spoken_name(skill)) for skill in skills], texts)
    docs = [
        [skill.name, skill.file, skill.stamp, len(source.short), source.referrals, source.mentions, source.needs]
        for skill, source in zip(skills, sources, strict=True)
    ]
    above = array("I", (NOBODY if parent is None else parent for parent in nesting.parents(skills)))
    links = _lists(_both_ways([[number[name] for name in source.mentions if name in number] for source in sources]))
    needs = _lists([{number[name] for name in source.needs if name in number} for source in sources])
    encoder = encoder_name(table)
    head = {"version": VERSION, "digest": digest(skills, encoder), "encoder": encoder}
    vectors = _vectors([source.vector for source in sources], table, among_others=among_others)
    return _layout(head, docs, (*postings, bytes(above), *links, *needs, *vectors))


def sections(names: Sequence[list[str]], texts: Sequence[tuple[list[str], list[str]]]) -> list[bytes]:
    """Return the sections of terms, postings and positions, from the terms of names and of (short, body) texts."""
    index = _Index(sorted({word for text in texts for part in text for word in part}))
    for name, (short, body) in zip(names, texts, strict=True):
        index.add(name, short, body)
    return index.parts()


def _vectors(rows: Sequence[bytes], table: Table | None, *, among_others: bool) -> list[bytes]:
    """Return the sections of vectors in order."""
    dimensions = table.dimensions if table is not None else 0
    if among_others:
        return [b"".join(rows), b"", leading.lanes_of(rows, dimensions), leading.sums(rows, dimensions)]
    return [b"".join(rows), columns(rows, dimensions), b"", b""]


def _terms(skill: Skill, table: Table | None) -> SkillTerms:
    """Return a skill's terms; bundled skills are read once per process."""
    if skill.source != "bundled" or skill.stamp == RACY:
        return skill_terms(skill, table)
    key = skill.file, skill.stamp, encoder_name(table)
    cached = _BUNDLED.get(key)
    if cached is None:
        cached = _BUNDLED[key] = skill_terms(skill, table)
    return cached


def _both_ways(mentioned: Sequence[Sequence[int]]) -> list[set[int]]:
    """Return for each skill the skills that it mentions or is mentioned by."""
    both = [set(others) for others in mentioned]
    for document, others in enumerate(mentioned):
        for other in others:
            both[other].add(document)
    return both


def _lists(related: Sequence[set[int]]) -> tuple[bytes, bytes]:
    """Return the related skills of all skills in one array, and the start of each skill's part."""
    lists = [sorted(others - {document}) for document, others in enumerate(related)]
    flat = array("I", (other for others in lists for other in others))
    return bytes(flat), bytes(array("I", accumulate(map(len, lists), initial=0)))


class _Index:
    """Collects the terms of all skills.

    Each row has the numbers of a term and of a skill, and the term's frequency in the skill's short and whole texts.
    """

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self.number = {word: index for index, word in enumerate(vocabulary)}
        self.terms, self.skills, self.short, self.whole = array("I"), array("I"), array("I"), array("I")
        self.sorted, self.positions, self.spans = array("I"), array("I"), array("I")
        self.named: Counter[str] = Counter()
        self.count = 0

    def add(self, name: list[str], short: list[str], body: list[str]) -> None:
        """Add a skill's name and its two texts."""
        self.named.update(set(name))
        start, brief = len(self.sorted), len(short)
        tokens = list(map(self.number.__getitem__, short + body))
        places = sorted(range(len(tokens)), key=tokens.__getitem__)
        in_order = list(map(tokens.__getitem__, places))
        whole, in_short = Counter(in_order), Counter(tokens[:brief])
        self.terms.extend(whole)
        self.skills.extend([self.count] * len(whole))
        self.short.extend(map(in_short.__getitem__, whole))
        self.whole.extend(whole.values())
        self.positions.extend(places)
        self.sorted.extend(in_order)
        self.spans.extend((start, start + brief, len(self.sorted)))
        self.count += 1

    def parts(self) -> list[bytes]:
        """Return the sections of terms, postings and positions in order."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in self.vocabulary]
        bounds = array("I", accumulate(map(len, encoded), initial=0))
        numbers = range(len(encoded))
        having = array("I", map(Counter(self.terms).__getitem__, numbers))
        brief = array("I", map(Counter(compress(self.terms, self.short)).__getitem__, numbers))
        named = array("I", map(self.named.__getitem__, self.vocabulary))
        starts, skills, adds = self._listed(brief, having)
        counts = array("I", chain.from_iterable(zip_longest(starts, brief, having, named, fillvalue=0)))
        vocabulary = b"".join(encoded), bytes(bounds), slots_of(encoded)
        places = bytes(self.sorted), bytes(self.positions), bytes(self.spans)
        return [*vocabulary, bytes(counts), bytes(skills), bytes(adds), *places]

    def _listed(self, brief: Sequence[int], having: Sequence[int]) -> tuple[Iterable[int], array[int], array[float]]:
        """Return the start of each term's list, the skills that it adds most to, and the adds."""
        rule, longest = weights.Rule.of(self.spans, self.count), max(FEWEST, self.count // LISTED)
        rarities = list(map(cache(rule.rarity), brief, having))  # most words are in one or two skills
        adds = rule.adds(self.skills, self.short, self.whole, map(rarities.__getitem__, self.terms))
        # Sort by term, then by the largest add. One key for both is faster, since the rows of a skill are sorted by it.
        keys = [term - add * _FRACTION for term, add in zip(self.terms, adds, strict=True)]
        rows = sorted(range(len(keys)), key=keys.__getitem__)
        starts = accumulate(having, initial=0)
        if self.count > longest:
            rows = [row for start, end in pairwise(starts) for row in rows[start : min(end, start + longest)]]
            starts = accumulate((min(longest, count) for count in having), initial=0)
        return starts, array("I", map(self.skills.__getitem__, rows)), array("f", map(adds.__getitem__, rows))


def _layout(head: Mapping[str, Any], docs: list[list[Any]], more: Sequence[bytes]) -> bytes:
    """Join head and sections, each on an eight-byte boundary; the head is padded to a fixed length."""
    parts = dict(zip(SECTIONS, (json.dumps(docs).encode(), *more), strict=True))
    room = 2_048
    start, sections, padded_parts = 8 + room, {}, []
    for name, part in parts.items():
        sections[name] = (start, start + len(part))
        padded = part + b"\0" * (-len(part) % 8)
        padded_parts.append(padded)
        start += len(padded)
    text = json.dumps({**head, "sections": sections}).encode().ljust(room)
    return b"".join((room.to_bytes(8, "little"), text, *padded_parts))


def _reusable(old: Postings, encoder: str) -> dict[tuple[str, str, int], SkillTerms]:
    """Return the skills of the old file, by path, name and stamp, up to the first corrupt entry."""
    reusable: dict[tuple[str, str, int], SkillTerms] = {}
    if old.encoder != encoder:
        return reusable
    with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
        words = old.vocabulary()
        for document, (name, path, stamp, own, referrals, mentions, needs) in enumerate(old.docs()):
            if stamp in (NONE, RACY):
                continue
            short = old.short_length(document)
            text = [words[token] for token in old.tokens(document)]
            own_referrals = [
                (str(other), list(map(str, subject)), list(map(str, clause))) for other, subject, clause in referrals
            ]
            names = list(map(str, mentions)), list(map(str, needs))
            vector = old.vector(document)
            reusable[path, name, stamp] = SkillTerms(text[:own], text[short:], own_referrals, *names, vector)
    return reusable


@contextlib.contextmanager
def not_collected() -> Iterator[None]:
    """Disable garbage collection, which takes most of the time where many small objects are made."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
