"""Reads a goal for a pool of skills: the whole goal and each of its parts, with the skills that may fit."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from goalwright_skills.selection.index.nesting import hubs_first
from goalwright_skills.selection.query.goal_words import GoalWords
from goalwright_skills.selection.query.language import other_language
from goalwright_skills.selection.query.parts import parts_of
from goalwright_skills.selection.ranking.bm25 import TermPlaces, rarity_shares
from goalwright_skills.selection.ranking.combination import EVERYDAY, need_features, right_features
from goalwright_skills.selection.ranking.signals import Outlook, Signals, leading, strength

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.selection.index.leading import NearCosines
    from goalwright_skills.selection.index.vectors import Cosines
    from goalwright_skills.selection.ranking.bm25 import Places, Query
    from goalwright_skills.selection.ranking.pool import Pool
    from goalwright_skills.selection.ranking.signals import Agreement, Candidate

# The number of candidates by words and by meaning, for a whole goal and for a part.
BY_WORDS, BY_MEANING = 32, 16
PART_BY_WORDS, PART_BY_MEANING = 12, 8
# Subtracted from the score of bundled skills, so that the user's own skills win near ties.
BUNDLED = 0.6
_FOUR_WORDS = 4
# The weight of a word that the encoder does not know: the median of all words.
UNFAMILIAR = 4.0
# The need of a short goal that asks for a choice without the words of the skill that weighs options.
IMPLIED_NEED, _SHORT = 0.9, 10


class Fit(NamedTuple):
    """How a skill fits a text: by its words, by all signals, and its score."""

    candidate: Candidate
    signals: Signals
    score: float


class Passage:
    """A goal, or a part of the goal `whole`, with the skills that may fit."""

    def __init__(self, text: str, pool: Pool, whole: Passage | None = None) -> None:
        self.text, self.pool, self._whole = text, pool, whole
        self.words = GoalWords.of(text)
        self.language: str = whole.language if whole is not None else other_language(text)
        shares = rarity_shares(self.words.spelling, pool.table, foreign=bool(self.language))
        self.query: Query = pool.scorer.query(self.words.evidence, self.words.implied, shares)
        self.fits: dict[int, Fit] = {}
        self.most_meaning = self.least_words = self.everyday = self._unled = self._leading = self._mean = 0.0
        self._near: Cosines | NearCosines | None = None
        self._places: Mapping[int, Places] = {}

    def look(self, places: TermPlaces, by_words: int, by_meaning: int) -> None:
        """Find the skills that may fit, this many by words and by meaning."""
        self._places, scorer = places, self.pool.scorer
        cosines = self._cosines(by_meaning)
        near = cosines.nearest(by_meaning) if cosines is not None else []
        likely = scorer.likely(self.query, by_words)
        candidates = scorer.candidates(self.query, places, likely, near)
        self.least_words = min((candidate.by_words for candidate in candidates[: len(likely)]), default=0.0)
        best = max((candidate.score for candidate in candidates), default=0.0)
        lead = leading(best, self.query.weight, scorer.unseen)
        self._leading = lead / best if best else 0.0
        self._unled = 0.0 if lead == 1 or self._has_rare_word() else 1 - lead
        self._near, self._mean = cosines, cosines.mean if cosines is not None else 0.0
        self.most_meaning = cosines[near[0]] if cosines is not None and near else 0.0
        for candidate in candidates:
            self.fits[candidate.document] = self._fit(candidate)

    def fit_of(self, document: int) -> Fit:
        """Return how any skill fits, whether it is a candidate or not."""
        if document in self.fits:
            return self.fits[document]
        places = TermPlaces(self.pool.scorer.data, self.query.shares)
        return self._fit(self.pool.scorer.candidates(self.query, places, (), [document])[0])

    def _fit(self, candidate: Candidate) -> Fit:
        signals = self._signals(candidate, self._near[candidate.document] if self._near is not None else 0.0)
        penalty = BUNDLED if self.pool.bundled(candidate.document) else 0.0
        return Fit(candidate, signals, self.pool.combination.passage(signals) - penalty)

    def _cosines(self, count: int) -> Cosines | NearCosines | None:
        table = self.pool.table
        vector = table.vector(self.text) if table is not None and self.pool.vectors else []
        if table is not None and not self.is_part:
            self.everyday = table.everyday(vector)
        return self.pool.vectors.cosines(vector, count)

    def _signals(self, candidate: Candidate, meaning: float) -> Signals:
        by_words = strength(candidate.score, self.query.weight, self.pool.scorer.unseen, candidate.words)
        spread = self.most_meaning - self._mean
        nearness = max(0.0, (meaning - self._mean) / spread) if spread > 0 else 0.0
        return Signals(
            by_words,
            candidate.score * self._leading,
            meaning,
            nearness,
            self._named(candidate.document),
            min(candidate.words, _FOUR_WORDS) / _FOUR_WORDS,
            nearness * self._unled,
        )

    def _has_rare_word(self) -> bool:
        """Whether a skill has a word of the text that the encoder does not know, so that meaning ignores it."""
        table, data = self.pool.table, self.pool.scorer.data
        if table is None or self.language:  # in another language most words are rare
            return False
        spelling = self.words.spelling.items()
        return any(table.commonness(word) == 0 and data.term(term) is not None for term, word in spelling)

    def _named(self, document: int) -> float:
        """Return the share of a skill's name that the text contains, weighted by rarity."""
        if not self._begins_with_a_word(document) or self.pool.spelled_name(document).keys().isdisjoint(
            self.words.evidence
        ):
            return 0.0  # true for most skills, and it saves the rarity of their names
        name, evidence = self.pool.name(document), self.query.evidence
        return sum([weight for term, weight in name.items() if term in evidence]) / sum(name.values())

    def _begins_with_a_word(self, document: int) -> bool:
        """Whether a word of the text is where a skill's text has the name: at its start."""
        places, length = self._places[document], self.pool.words_in_name(document)
        return bool(places) and min([positions[0] for positions in places.values()]) < length

    @cached_property
    def ranked(self) -> list[Fit]:
        """The skills that may fit, best first."""
        scores = hubs_first({document: fit.score for document, fit in self.fits.items()}, self.pool.scorer.data.parent)
        order = sorted(scores, key=lambda document: (-scores[document], document))
        return [self.fits[document] for document in order]

    def nearest(self, count: int) -> list[int]:
        """Return the skills nearest in meaning, nearest first."""
        if self._near is None:
            return []
        return sorted(self.fits, key=lambda document: (-self.fits[document].signals.meaning, document))[:count]

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a goal."""
        return self._whole is not None

    @property
    def threshold(self) -> float:
        """The least need from which it selects a skill."""
        combination = self.pool.combination
        if self.is_part:
            return combination.part
        return combination.foreign if self.language else combination.whole

    @property
    def sounds_everyday(self) -> bool:
        """Whether the goal sounds like everyday talk, which needs a better match."""
        return (self._whole or self).everyday > EVERYDAY

    @property
    def selects(self) -> bool:
        """Whether its need of a skill reaches the threshold."""
        return self.need >= self.threshold

    @cached_property
    def need(self) -> float:
        """The probability that the text needs a skill of the pool."""
        if not self.fits or not self.words.can_select:
            return 0.0
        best = self.ranked[0]
        if self._implies(best):
            return IMPLIED_NEED
        features = need_features(best.signals, self.agreement(best.candidate.document), self.outlook)
        if self._whole is None:
            return self.pool.combination.needed(features)
        return self.pool.combination.needed_by_part(features, self._whole.need)

    @property
    def outlook(self) -> Outlook:
        """The text compared with all skills of the pool."""
        data, everyday = self.pool.scorer.data, (self._whole or self).everyday
        known = 1 - len(self._unknown) / max(1, len(self.words.spelling))
        if self.language and self.fits and self.pool.language(self.ranked[0].candidate.document) == self.language:
            known = (1 + known) / 2  # the best skill is in the same language: count half of the missing words
        deviation = self._near.deviation if self._near is not None else 0.0
        return Outlook(self.most_meaning, self._mean, deviation, known, self.unheard[1], everyday, data.total)

    @cached_property
    def unheard(self) -> tuple[str, float]:
        """The heaviest word that no skill has, with its weight; everyday words do not count."""
        if self.language or self.pool.table is None:
            return "", 0.0  # skills have hardly any word of another language
        words = [self.words.spelling[term] for term in self._unknown if self.words.evidence[term] == 1.0]
        weighted = [(word, self.pool.table.weight(word) or UNFAMILIAR) for word in words]
        return max(weighted, key=itemgetter(1), default=("", 0.0))

    @cached_property
    def _unknown(self) -> list[str]:
        """The terms that no skill has."""
        return [term for term in self.words.spelling if self.pool.scorer.data.term(term) is None]

    def agreement(self, document: int) -> Agreement:
        """Return how much of the text a skill covers."""
        return self.pool.scorer.agreement(document, self.query, self._places[document])

    def _implies(self, fit: Fit) -> bool:
        """Whether a short text implies the words of a skill."""
        if not self.words.implied or len(self.words.spelling) > _SHORT or self.sounds_everyday:
            return False
        return len(self.implied_by(fit.candidate.document)) > 1

    def shared(self, document: int) -> tuple[list[str], list[str]]:
        """Return the words of the text in a skill's name and description, and those only in its body."""
        return self.pool.scorer.shared(document, self._words, self._places.get(document))

    def implied_by(self, document: int) -> list[str]:
        """Return the implied terms in a skill's description."""
        if not self.words.implied:
            return []
        return self.pool.scorer.shared(document, self._implied, self._places.get(document))[0]

    @cached_property
    def _words(self) -> dict[int, str]:
        return self.pool.scorer.numbered(self.words.spelling)

    @cached_property
    def _implied(self) -> dict[int, str]:
        return self.pool.scorer.numbered({term: term for term in self.words.implied})

    def probability(self, fit: Fit) -> float:
        """Return the probability that a skill is the right one."""
        others = (other.score for other in self.ranked[:2] if other.candidate.document != fit.candidate.document)
        ahead = fit.score - max(others, default=0.0)
        features = right_features(fit.signals, self.need, ahead, is_part=self.is_part)
        return self.pool.combination.probably_right(features)


class GoalReading:
    """A goal and its parts, each with the skills of a pool that may fit; at least `limit` skills are ranked."""

    def __init__(self, text: str, pool: Pool, limit: int = 0) -> None:
        self.pool, self.limit = pool, limit
        self.whole = Passage(text, pool)
        self.parts = [Passage(part, pool, self.whole) for part in parts_of(text)]
        terms = chain.from_iterable(passage.query.shares for passage in (self.whole, *self.parts))
        places = TermPlaces(pool.scorer.data, terms)
        self.whole.look(places, max(BY_WORDS, limit), max(BY_MEANING, limit // 2))
        for part in self.parts:
            part.look(places, PART_BY_WORDS, PART_BY_MEANING)

    @cached_property
    def ranked(self) -> list[tuple[int, float]]:
        """The skills that may fit the goal or a part of it, by number, with their scores, best first."""
        return sorted(self._scores().items(), key=lambda item: (-item[1], item[0]))

    def probability(self, document: int) -> float:
        """Return the probability that a skill is the right one, for the text that it fits best."""
        passages = [passage for passage in (self.whole, *self.parts) if document in passage.fits]
        return max((passage.probability(passage.fits[document]) for passage in passages), default=0.0)

    def best_part(self, document: int) -> Passage | None:
        """Return the part that a skill fits best."""
        parts = [part for part in self.parts if document in part.fits]
        return max(parts, key=lambda part: part.fits[document].score, default=None)

    def _scores(self) -> dict[int, float]:
        scores: dict[int, float] = {}
        for document in dict.fromkeys(number for passage in (self.whole, *self.parts) for number in passage.fits):
            whole, part = self.whole.fits.get(document), self.best_part(document)
            score = self.pool.combination.goal(
                whole.signals if whole is not None else Signals(),
                part.fits[document].signals if part is not None else None,
                len(self.parts),
            )
            scores[document] = score - (BUNDLED if self.pool.bundled(document) else 0.0)
        return hubs_first(scores, self.pool.scorer.data.parent)
