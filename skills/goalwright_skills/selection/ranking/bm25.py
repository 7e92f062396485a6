"""Scores the skills of a pool by the words of a goal.

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
# The positions of a word that are searched for pairs; more add nothing.
OFTEN = 100
# A goal states the request first and the circumstances later, so each further word counts a little less.
FADE = 0.06
# The share of a word that the goal implies, compared with one that it contains.
IMPLIED = 0.4
# Most character pairs in a text without spaces are not words, so pairs unknown to the pool count little.
UNKNOWN_DENSE = 0.25
# Words with a smaller share than this are near each other in any text.
PAIRED = 0.3

Pair = tuple[int, int]
Places = dict[int, list[int]]


@dataclass(slots=True)
class Query:
    """A goal's terms in order, with their shares (larger for early ones) and their weights.

    `factors` are the BM25 factors for short and whole texts, `paired` the terms that may form pairs. `evidence` is how
    much each word counts as evidence: everyday words count less, single letters not at all. `telling` are the words
    that are not everyday, `implied` the terms that the goal does not contain.
    """

    shares: dict[int, float] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    factors: dict[int, tuple[float, float]] = field(default_factory=dict)
    evidence: dict[int, float] = field(default_factory=dict)
    implied: set[int] = field(default_factory=set)
    telling: set[int] = field(default_factory=set)
    paired: list[int] = field(default_factory=list)
    unknown: float = 0.0

    @property
    def weight(self) -> float:
        """The weight of all words together."""
        return self.unknown + sum(self.weights.values())


class TermPlaces(dict[int, Places]):
    """The positions of the goal's terms by skill, looked up once for the whole goal and its parts."""

    def __init__(self, data: Postings | Segments, terms: Iterable[int]) -> None:
        super().__init__()
        self._data, self._terms = data, sorted(set(terms))

    def __missing__(self, document: int) -> Places:
        places = self[document] = self._data.places(document, self._terms)
        return places


class Scorer:
    """Scores the skills of a pool by words."""

    def __init__(self, data: Postings | Segments) -> None:
        self.data = data
        self.rule = Rule.of(data.bounds, data.total)
        self.unseen = idf(self.rule.count, 0)

    def query(self, words: Mapping[str, float], implied: Sequence[str], rarity: Mapping[str, float]) -> Query:
        """Return the query of these terms with their evidence, and of the implied terms.

        `rarity` has the share of a term's rarity that counts, if not all of it does.
        """
        query = Query()
        for position, (word, evidence) in enumerate(words.items()):
            rarity_share = rarity.get(word, 1.0)
            share, term = rarity_share / (1 + FADE * position), self.data.term(word)
            if term is None:
                query.unknown += (1 + WHOLE) * self.unseen * share * (UNKNOWN_DENSE if dense(word) else 1)
                continue
            self._add_term(query, term, share)
            if rarity_share >= PAIRED:
                query.paired.append(term)
            if len(word) > 1:
                query.evidence[term] = evidence * rarity_share
                if evidence == 1.0:
                    query.telling.add(term)
        for word in implied:
            term = self.data.term(word)
            if term is not None and term not in query.shares:
                self._add_term(query, term, IMPLIED)
                query.implied.add(term)
        return query

    def _add_term(self, query: Query, term: int, share: float) -> None:
        query.shares[term] = share
        rare, common = self.rule.rarity(self.data.brief[term], self.data.having[term])
        query.weights[term] = share * (rare + common)
        factor = self.rule.k1 + 1
        query.factors[term] = factor * rare, factor * common

    def candidates(
        self, query: Query, known: TermPlaces, likely: Iterable[int], others: Iterable[int]
    ) -> list[Candidate]:
        """Score these skills for a text, the likely ones first; only they gain by word pairs."""
        places = {document: _query_places(known[document], query) for document in likely}
        pairs = self._pairs(query, places)
        places.update(
            (document, _query_places(known[document], query)) for document in others if document not in places
        )
        return [
            self._candidate(document, pairs.get(document, 0.0), query, positions)
            for document, positions in places.items()
        ]

    def numbered(self, words: Mapping[str, str]) -> dict[int, str]:
        """Map the words of a goal, by term, to the numbers of their terms; words that no skill has are left out."""
        return {number: word for term, word in words.items() if (number := self.data.term(term)) is not None}

    def shared(self, document: int, words: Mapping[int, str], places: Places | None) -> tuple[list[str], list[str]]:
        """Return the numbered words in a skill's short text, and those only in its body.

        `places` are the positions of these words in the skill, if they are known.
        """
        short = self.data.short_length(document)
        if places is None:
            places = self.data.places(document, sorted(words))
        brief: list[str] = []
        body: list[str] = []
        for number, word in words.items():
            if positions := places.get(number):
                (brief if positions[0] < short else body).append(word)
        return brief, body

    def agreement(self, document: int, query: Query, places: Places) -> Agreement:
        """Return how much of a text a skill covers that has the text's terms at these positions."""
        short = self.data.short_length(document)
        covered = [term for term in query.weights if term in places and term not in query.implied]
        described = [term for term in covered if places[term][0] < short]
        rarest = max((query.weights[term] for term in described), default=0.0)
        return Agreement(len(described), len(covered) - len(described), rarest / self.unseen)

    def known(self, words: Sequence[str]) -> int:
        """Count the terms that are in some skill's short text."""
        numbers = map(self.data.term, words)
        return sum(self.data.brief[number] > 0 for number in numbers if number is not None)

    def likely(self, query: Query, limit: int) -> list[int]:
        """Return the skills with the highest scores by single words, as far as the index lists them."""
        return self.data.likely(query.shares, limit)

    def _candidate(self, document: int, pairs: float, query: Query, places: Places) -> Candidate:
        short_length = self.data.short_length(document)
        short, whole = self.rule.short[document], self.rule.whole[document]
        factors, shares, evidence, adds = query.factors, query.shares, query.evidence, {}
        for term, positions in places.items():  # as in `Rule.adds`, inlined since each goal has hundreds
            rare, common = factors[term]
            add = common * len(positions) / (len(positions) + whole)
            if positions[0] < short_length:
                count = bisect_left(positions, short_length)
                add += rare * count / (count + short)
            adds[term] = shares[term] * add
        words = sum([evidence[term] for term in places if term in evidence])
        if query.telling.isdisjoint(places):
            words = min(1.0, words)  # everyday words count for no more than one
        if query.implied:
            words += min(2, len(query.implied & places.keys()))
        by_words = sum(adds.values())
        return Candidate(document, by_words, by_words + pairs, adds, words)

    def _pairs(self, query: Query, places: Mapping[int, Places]) -> dict[int, float]:
        """Return each skill's gain by words that are close together in the goal and in it; rare pairs count more."""
        order = query.paired
        goal_pairs = {
            (first, second) if first < second else (second, first)
            for i, first in enumerate(order)
            for second in order[i + 1 : i + 1 + WINDOW]
        }
        short_length = self.data.short_length
        counts = {
            document: close
            for document, positions in places.items()
            if (close := _close_pairs(positions, goal_pairs, short_length(document)))
        }
        in_whole = Counter(chain.from_iterable(counts.values()))
        in_short = Counter([pair for pairs in counts.values() for pair, (a, _) in pairs.items() if a])
        # Rarity among the candidates: in the whole pool every pair is rare, and pairs would outweigh the words.
        count, factor = max(len(places), MIN_POOL), self.rule.k1 + 1
        short = {pair: SHORT_PAIRS * factor * idf(count, in_short[pair]) for pair in in_whole}
        whole = {pair: WHOLE_PAIRS * factor * idf(count, having) for pair, having in in_whole.items()}
        norms = self.rule.short, self.rule.whole
        return {
            document: sum(
                whole[pair] * b / (b + norms[1][document]) + short[pair] * a / (a + norms[0][document])
                for pair, (a, b) in pairs.items()
            )
            for document, pairs in counts.items()
        }


def _query_places(places: Places, query: Query) -> Places:
    return {term: places[term] for term in query.shares if term in places}


def _close_pairs(places: Places, goal_pairs: set[Pair], short: int) -> dict[Pair, tuple[int, int]]:
    """Count the goal's pairs that are close together in a skill: in the short text, and in the whole text."""
    counts: dict[Pair, tuple[int, int]] = {}
    if len(places) < 2:
        return counts
    where: dict[int, int] = {}
    for term, positions in places.items():
        where.update(dict.fromkeys(positions[:OFTEN], term))
    # Most positions have no neighbour: finding the others first takes a third of the time.
    near = [position for position, following in pairwise(sorted(where)) if following - position <= WINDOW]
    term_at = where.get
    for position in near:
        first = where[position]
        for other in range(position + 1, position + 1 + WINDOW):
            if (second := term_at(other)) is not None:
                pair = (first, second) if first < second else (second, first)
                if pair in goal_pairs:
                    a, b = counts.get(pair, (0, 0))
                    counts[pair] = (a + (other < short), b + 1)
    return counts


# The weight of a word whose rarity does not count.
NOTHING = 1.0
# The weight from which the rarity of a word counts in full. It is higher for other languages, whose stop words and
# everyday words are not listed.
EVERYTHING, EVERYTHING_FOREIGN = 3.0, 5.0
# The share of a word in a script that the encoder does not know.
UNKNOWN = 0.7


def rarity_shares(words: Mapping[str, str], table: Table | None, *, foreign: bool) -> dict[str, float]:
    """Return the share of its rarity that counts for each term; terms that count in full are left out.

    The encoder knows how much a word means in general. Among skills in English "und" is as rare as a name, and would
    select the only skill in German for any goal in German. `foreign` goals are not in English.
    """
    if table is None:
        return {}
    full, shares = EVERYTHING_FOREIGN if foreign else EVERYTHING, {}
    for term, spelling in words.items():
        weight = table.weight(spelling)
        if weight is None:
            if not spelling.isascii():
                shares[term] = UNKNOWN
        elif weight < full:
            shares[term] = max(0.0, (weight - NOTHING) / (full - NOTHING))
    return shares
