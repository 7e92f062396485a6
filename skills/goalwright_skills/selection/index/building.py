"""Making the index file: the terms of all skills, what each adds to which skill's score, and how skills relate.

After a change the new file is made from the old one's positions; only new or changed skills are read and stemmed again.
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


# A common word adds next to nothing to most skills: it lists this fraction of the pool, and a few hundred at least.
LISTED, FEWEST = 5, 300
# Times this, what a term adds to a score is less than one: among a billion skills it is below 400.
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
    """The file of these skills, with vectors by `table`, reusing what `old` has of unchanged ones.

    `read` gives the text of a skill, else all of it is read. An index `among_others` is searched together with these.
    """
    with not_collected():
        known = _reusable(old, encoder_name(table)) if old is not None else {}
        sources = [
            known.get((skill.file, skill.name, skill.stamp)) or (read or _terms)(skill, table) for skill in skills
        ]
        return _build(skills, sources, table, among_others=among_others)


def encoder_name(table: Table | None) -> str:
    """The name of the encoder that a pool's vectors are made with; empty without one."""
    return table.name if table is not None else ""


def _build(skills: Sequence[Skill], sources: Sequence[SkillTerms], table: Table | None, *, among_others: bool) -> bytes:
    referred: list[list[str]] = [[] for _ in skills]
    number = {skill.name: at for at, skill in enumerate(skills)}
    for at, each in enumerate(sources):
        for other, subject, clause in each.referrals:
            # "For X, see Y" is about Y only if Y is a skill; otherwise its words are the skill's own.
            target = number.get(other, at)
            referred[target] += clause if target == at else subject
    texts = [(each.short + more, each.body) for each, more in zip(sources, referred, strict=True)]
    postings = sections([terms(spoken_name(skill)) for skill in skills], texts)
    docs = [
        [skill.name, skill.file, skill.stamp, len(each.short), each.referrals, each.mentions, each.needs]
        for skill, each in zip(skills, sources, strict=True)
    ]
    above = array("I", (NOBODY if at is None else at for at in nesting.parents(skills)))
    links = _lists(_both_ways([[number[name] for name in each.mentions if name in number] for each in sources]))
    needs = _lists([{number[name] for name in each.needs if name in number} for each in sources])
    encoder = encoder_name(table)
    head = {"version": VERSION, "digest": digest(skills, encoder), "encoder": encoder}
    vectors = _vectors([each.vector for each in sources], table, among_others=among_others)
    return _layout(head, docs, (*postings, bytes(above), *links, *needs, *vectors))


def sections(names: Sequence[list[str]], texts: Sequence[tuple[list[str], list[str]]]) -> list[bytes]:
    """The sections of terms, postings and positions of skills by their names' terms, and by those of short and body."""
    index = _Index(sorted({word for text in texts for part in text for word in part}))
    for name, (short, body) in zip(names, texts, strict=True):
        index.add(name, short, body)
    return index.parts()


def _vectors(rows: Sequence[bytes], table: Table | None, *, among_others: bool) -> list[bytes]:
    """The sections of vectors, in their order."""
    dimensions = table.dimensions if table is not None else 0
    if among_others:
        return [b"".join(rows), b"", leading.lanes_of(rows, dimensions), leading.sums(rows, dimensions)]
    return [b"".join(rows), columns(rows, dimensions), b"", b""]


def _terms(skill: Skill, table: Table | None) -> SkillTerms:
    """A skill's terms; the bundled skills are the same in every workspace, so a process reads each of them once."""
    if skill.source != "bundled" or skill.stamp == RACY:
        return skill_terms(skill, table)
    key = skill.file, skill.stamp, encoder_name(table)
    found = _BUNDLED.get(key)
    if found is None:
        found = _BUNDLED[key] = skill_terms(skill, table)
    return found


def _both_ways(named: Sequence[Sequence[int]]) -> list[set[int]]:
    """The skills that each one names or is named by."""
    both = [set(others) for others in named]
    for at, others in enumerate(named):
        for other in others:
            both[other].add(at)
    return both


def _lists(related: Sequence[set[int]]) -> tuple[bytes, bytes]:
    """The related skills of all, one after the other, and where those of each begin; none is its own."""
    own = [sorted(others - {at}) for at, others in enumerate(related)]
    flat = array("I", (other for others in own for other in others))
    return bytes(flat), bytes(array("I", accumulate(map(len, own), initial=0)))


class _Index:
    """The terms of all skills under construction.

    A row for each skill and each of its terms has the term's number, the skill's, and how often the skill's short and
    whole texts have it.
    """

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self.number = {word: at for at, word in enumerate(vocabulary)}
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
        """The sections of terms, postings and positions, in their order."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in self.vocabulary]
        bounds = array("I", accumulate(map(len, encoded), initial=0))
        every = range(len(encoded))
        having = array("I", map(Counter(self.terms).__getitem__, every))
        brief = array("I", map(Counter(compress(self.terms, self.short)).__getitem__, every))
        named = array("I", map(self.named.__getitem__, self.vocabulary))
        starts, skills, adds = self._listed(brief, having)
        counts = array("I", chain.from_iterable(zip_longest(starts, brief, having, named, fillvalue=0)))
        vocabulary = b"".join(encoded), bytes(bounds), slots_of(encoded)
        places = bytes(self.sorted), bytes(self.positions), bytes(self.spans)
        return [*vocabulary, bytes(counts), bytes(skills), bytes(adds), *places]

    def _listed(self, brief: Sequence[int], having: Sequence[int]) -> tuple[Iterable[int], array[int], array[float]]:
        """Where each term's skills begin, those it adds most to, and what it adds: BM25 in short and whole text."""
        rule, most = weights.Rule.of(self.spans, self.count), max(FEWEST, self.count // LISTED)
        rarities = list(map(cache(rule.rarity), brief, having))  # most words are in one skill or in two
        adds = rule.adds(self.skills, self.short, self.whole, map(rarities.__getitem__, self.terms))
        # By term, then what is added most. One key for both is sorted faster: the rows of a skill are in its order.
        keys = [term - add * _FRACTION for term, add in zip(self.terms, adds, strict=True)]
        rows = sorted(range(len(keys)), key=keys.__getitem__)
        starts = accumulate(having, initial=0)
        if self.count > most:
            rows = [row for start, end in pairwise(starts) for row in rows[start : min(end, start + most)]]
            starts = accumulate((min(most, each) for each in having), initial=0)
        return starts, array("I", map(self.skills.__getitem__, rows)), array("f", map(adds.__getitem__, rows))


def _layout(head: Mapping[str, Any], docs: list[list[Any]], more: Sequence[bytes]) -> bytes:
    """Head and sections, each on an eight-byte boundary; the head is padded to a fixed length."""
    parts = dict(zip(SECTIONS, (json.dumps(docs).encode(), *more), strict=True))
    room = 2_048
    at, sections, padded_parts = 8 + room, {}, []
    for name, part in parts.items():
        sections[name] = (at, at + len(part))
        padded = part + b"\0" * (-len(part) % 8)
        padded_parts.append(padded)
        at += len(padded)
    text = json.dumps({**head, "sections": sections}).encode().ljust(room)
    return b"".join((room.to_bytes(8, "little"), text, *padded_parts))


def _reusable(old: Postings, encoder: str) -> dict[tuple[str, str, int], SkillTerms]:
    """What the old file has, by path, name and stamp; stops at the first entry that makes no sense."""
    found: dict[tuple[str, str, int], SkillTerms] = {}
    if old.encoder != encoder:
        return found
    with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
        words = old.vocabulary()
        for at, (name, path, stamp, own, referrals, mentions, needs) in enumerate(old.docs()):
            if stamp in (NONE, RACY):
                continue
            short = old.short_length(at)
            text = [words[token] for token in old.tokens(at)]
            known = [
                (str(other), list(map(str, subject)), list(map(str, clause))) for other, subject, clause in referrals
            ]
            names = list(map(str, mentions)), list(map(str, needs))
            found[path, name, stamp] = SkillTerms(text[:own], text[short:], known, *names, old.vector(at))
    return found


@contextlib.contextmanager
def not_collected() -> Iterator[None]:
    """Collect no garbage meanwhile."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
