"""The best skills of a pool for a goal's words, with what each word adds to each one's score.

score = BM25(short) + BM25(whole) + pairs of the goal's words that are close together in either
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from goalwright_skills.selection.index.weights import MIN_POOL, WHOLE, Rule, idf
from goalwright_skills.selection.query.terms import dense
from goalwright_skills.selection.ranking.signals import Agreement, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.selection.index.postings import Postings
    from goalwright_skills.selection.index.segments import Segments


SHORT_PAIRS, WHOLE_PAIRS = 0.5, 0.75
WINDOW = 3
# The places of a word in a text that are looked at for pairs: more add nothing.
OFTEN = 100
# A goal says first what is wanted and then under which circumstances: each further word counts a little less.
FADE = 0.06
# What a word counts that the goal asks for without saying it, beside one that it says.
ASKED = 0.4
# Most pairs of characters in a text without spaces are not words, so pairs unknown to the pool say little.
UNKNOWN_DENSE = 0.25
# Words that say less than this are near each other in any text.
PAIRED = 0.3

Pair = tuple[int, int]
Places = dict[int, list[int]]


@dataclass(slots=True)
class Query:
    """A goal's terms in order, with their shares (early ones more) and what each counts where a skill has it.

    `factors` are what BM25 multiplies by in a short and in a whole text, `paired` the terms looked for together.
    `evidence` is how much each word of the goal speaks for a skill that has it: an everyday one less than others, a
    single letter not at all. `telling` are those of no everyday talk, `asked` terms that the goal does not say.
    """

    shares: dict[int, float] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    factors: dict[int, tuple[float, float]] = field(default_factory=dict)
    evidence: dict[int, float] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    telling: set[int] = field(default_factory=set)
    paired: list[int] = field(default_factory=list)
    unknown: float = 0.0

    @property
    def weight(self) -> float:
        """What all words count together."""
        return self.unknown + sum(self.weights.values())


class TermPlaces(dict[int, Places]):
    """Where skills have the terms of one goal: each is looked up once for the whole goal and its parts."""

    def __init__(self, data: Postings | Segments, terms: Iterable[int]) -> None:
        super().__init__()
        self._data, self._terms = data, sorted(set(terms))

    def __missing__(self, document: int) -> Places:
        found = self[document] = self._data.places(document, self._terms)
        return found


class Scorer:
    """Scores the skills of a pool by words; keeps the length norms."""

    def __init__(self, data: Postings | Segments) -> None:
        self.data = data
        self.rule = Rule.of(data.bounds, data.total)
        self.unseen = idf(self.rule.count, 0)

    def query(self, words: Mapping[str, float], asked: Sequence[str], said: Mapping[str, float]) -> Query:
        """The text of these terms, each with how much it speaks, and of those that it asks for without saying them.

        `said` is the share of what a term says by its rarity that counts, where that is not all.
        """
        query = Query()
        for position, (word, evidence) in enumerate(words.items()):
            counts = said.get(word, 1.0)
            share, term = counts / (1 + FADE * position), self.data.term(word)
            if term is None:
                query.unknown += (1 + WHOLE) * self.unseen * share * (UNKNOWN_DENSE if dense(word) else 1)
                continue
            self._want(query, term, share)
            if counts >= PAIRED:
                query.paired.append(term)
            if len(word) > 1:
                query.evidence[term] = evidence * counts
                if evidence == 1.0:
                    query.telling.add(term)
        for word in asked:
            term = self.data.term(word)
            if term is not None and term not in query.shares:
                self._want(query, term, ASKED)
                query.asked.add(term)
        return query

    def _want(self, query: Query, term: int, share: float) -> None:
        query.shares[term] = share
        rare, common = self.rule.rarity(self.data.brief[term], self.data.having[term])
        query.weights[term] = share * (rare + common)
        more = self.rule.k1 + 1
        query.factors[term] = more * rare, more * common

    def candidates(
        self, query: Query, known: TermPlaces, likely: Iterable[int], others: Iterable[int]
    ) -> list[Candidate]:
        """These skills with their scores for a text, the likely ones first; only they gain by pairs of words."""
        places = {at: _asked_for(known[at], query) for at in likely}
        pairs = self._pairs(query, places)
        places.update((at, _asked_for(known[at], query)) for at in others if at not in places)
        return [self._candidate(at, pairs.get(at, 0.0), query, there) for at, there in places.items()]

    def numbered(self, words: Mapping[str, str]) -> dict[int, str]:
        """The words that some skill has by the numbers of their terms; they are given by term, as spelled in a goal."""
        return {number: word for term, word in words.items() if (number := self.data.term(term)) is not None}

    def shared(self, at: int, words: Mapping[int, str], known: Places | None) -> tuple[list[str], list[str]]:
        """Which of the numbered words are in a skill's short text, and which only in its body.

        `known` are the places of these words in the skill, if they have been looked up.
        """
        short = self.data.short_length(at)
        if known is None:
            known = self.data.places(at, sorted(words))
        brief: list[str] = []
        body: list[str] = []
        for number, word in words.items():
            if positions := known.get(number):
                (brief if positions[0] < short else body).append(word)
        return brief, body

    def agreement(self, at: int, query: Query, places: Places) -> Agreement:
        """What of a text a skill says, which has the text's terms at these places."""
        short = self.data.short_length(at)
        said = [term for term in query.weights if term in places and term not in query.asked]
        described = [term for term in said if places[term][0] < short]
        rarest = max((query.weights[term] for term in described), default=0.0)
        return Agreement(len(described), len(said) - len(described), rarest / self.unseen)

    def known(self, words: Sequence[str]) -> int:
        """How many of the terms are in some skill's short text."""
        numbers = map(self.data.term, words)
        return sum(self.data.brief[number] > 0 for number in numbers if number is not None)

    def likely(self, query: Query, limit: int) -> list[int]:
        """The skills with the highest scores by single words, as far as the index lists them."""
        return self.data.likely(query.shares, limit)

    def _candidate(self, at: int, pairs: float, query: Query, places: Places) -> Candidate:
        brief, short, whole = self.data.short_length(at), self.rule.short[at], self.rule.whole[at]
        factors, shares, evidence, adds = query.factors, query.shares, query.evidence, {}
        for term, positions in places.items():  # as `Rule.adds`, of which each goal has hundreds
            rare, common = factors[term]
            add = common * len(positions) / (len(positions) + whole)
            if positions[0] < brief:
                often = bisect_left(positions, brief)
                add += rare * often / (often + short)
            adds[term] = shares[term] * add
        said = sum([evidence[term] for term in places if term in evidence])
        # Words of everyday talk speak for no more than one; what a goal asks for without a word is one thought.
        if query.telling.isdisjoint(places):
            said = min(1.0, said)
        words = said + (min(2, len(query.asked & places.keys())) if query.asked else 0)
        by_words = sum(adds.values())
        return Candidate(at, by_words, by_words + pairs, adds, words)

    def _pairs(self, query: Query, places: Mapping[int, Places]) -> dict[int, float]:
        """What each skill gains by words that are close together in the goal and in it; rare pairs count more."""
        order = query.paired
        wanted = {
            (first, second) if first < second else (second, first)
            for i, first in enumerate(order)
            for second in order[i + 1 : i + 1 + WINDOW]
        }
        short_length = self.data.short_length
        counts = {at: close for at, there in places.items() if (close := _close(there, wanted, short_length(at)))}
        in_whole = Counter(chain.from_iterable(counts.values()))
        in_short = Counter([pair for found in counts.values() for pair, (a, _) in found.items() if a])
        # Rare among the candidates: in the whole pool every pair is rare, and pairs would drown the words.
        count, more = max(len(places), MIN_POOL), self.rule.k1 + 1
        short = {pair: SHORT_PAIRS * more * idf(count, in_short[pair]) for pair in in_whole}
        whole = {pair: WHOLE_PAIRS * more * idf(count, having) for pair, having in in_whole.items()}
        norms = self.rule.short, self.rule.whole
        return {
            at: sum(
                whole[pair] * b / (b + norms[1][at]) + short[pair] * a / (a + norms[0][at])
                for pair, (a, b) in found.items()
            )
            for at, found in counts.items()
        }


def _asked_for(places: Places, query: Query) -> Places:
    """Of a skill's places those of a query's terms."""
    return {term: places[term] for term in query.shares if term in places}


def _close(places: Places, wanted: set[Pair], short: int) -> dict[Pair, tuple[int, int]]:
    """How often each wanted pair is close together in a skill: in the short text, and in all of it."""
    found: dict[Pair, tuple[int, int]] = {}
    if len(places) < 2:
        return found
    where: dict[int, int] = {}
    for term, positions in places.items():
        where.update(dict.fromkeys(positions[:OFTEN], term))
    # Most positions have none near them: finding the others first takes a third of the time.
    near = [position for position, following in pairwise(sorted(where)) if following - position <= WINDOW]
    known = where.get
    for position in near:
        first = where[position]
        for other in range(position + 1, position + 1 + WINDOW):
            if (second := known(other)) is not None:
                pair = (first, second) if first < second else (second, first)
                if pair in wanted:
                    a, b = found.get(pair, (0, 0))
                    found[pair] = (a + (other < short), b + 1)
    return found


# A word of this weight says nothing.
NOTHING = 1.0
# From this weight on a word says all that its rarity does. Of English, stop words and everyday words are known; other
# languages have as many.
EVERYTHING, EVERYTHING_FOREIGN = 3.0, 5.0
# What a word says in a script that the encoder does not know.
UNKNOWN = 0.7


def rarity_shares(words: Mapping[str, str], table: Table | None, *, foreign: bool) -> dict[str, float]:
    """The share of its rarity that counts for each term, given with its spelling; without those that count in full.

    `foreign` are the words of a goal that is not in English.
    """
    if table is None:
        return {}
    most, found = EVERYTHING_FOREIGN if foreign else EVERYTHING, {}
    for term, spelling in words.items():
        weight = table.weight(spelling)
        if weight is None:
            if not spelling.isascii():
                found[term] = UNKNOWN
        elif weight < most:
            found[term] = max(0.0, (weight - NOTHING) / (most - NOTHING))
    return found
