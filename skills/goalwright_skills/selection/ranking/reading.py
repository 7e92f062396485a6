"""A goal read for a pool of skills: the whole of it and each of its parts, with the skills that fit and how well."""

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

# How many skills are looked at closely, by words and by meaning: for a whole goal, and for a part of it.
BY_WORDS, BY_MEANING = 32, 16
PART_BY_WORDS, PART_BY_MEANING = 12, 8
# What a bundled skill is behind: on a near tie the user's own comes first.
BUNDLED = 0.6
_FOUR_WORDS = 4
# What a word says that the encoder does not know: as much as half of all words.
UNFAMILIAR = 4.0
# The need of a text of a few words that asks, without saying so, for what its best skill does.
ASKED, _SHORT = 0.9, 10


class Fit(NamedTuple):
    """How a skill fits a text: by its words, by all signals, and the score that these come to."""

    candidate: Candidate
    signals: Signals
    score: float


class Passage:
    """A goal, or a part of the `whole` one, with the skills that may fit."""

    def __init__(self, text: str, pool: Pool, whole: Passage | None = None) -> None:
        self.text, self.pool, self._whole = text, pool, whole
        self.words = GoalWords.of(text)
        self.language: str = whole.language if whole is not None else other_language(text)
        said = rarity_shares(self.words.spelling, pool.table, foreign=bool(self.language))
        self.query: Query = pool.scorer.query(self.words.evidence, list(self.words.asked), said)
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
        found = scorer.candidates(self.query, places, likely, near)
        self.least_words = min((one.by_words for one in found[: len(likely)]), default=0.0)
        best = max((candidate.score for candidate in found), default=0.0)
        lead = leading(best, self.query.weight, scorer.unseen)
        self._leading = lead / best if best else 0.0
        self._unled = 0.0 if lead == 1 or self._has_a_rare_word() else 1 - lead
        self._near, self._mean = cosines, cosines.mean if cosines is not None else 0.0
        self.most_meaning = cosines[near[0]] if cosines is not None and near else 0.0
        for candidate in found:
            self.fits[candidate.document] = self._fit(candidate)

    def fit_of(self, document: int) -> Fit:
        """How any skill fits, whether it was looked at or not."""
        if document in self.fits:
            return self.fits[document]
        places = TermPlaces(self.pool.scorer.data, self.query.shares)
        return self._fit(self.pool.scorer.candidates(self.query, places, (), [document])[0])

    def _fit(self, candidate: Candidate) -> Fit:
        signals = self._signals(candidate, self._near[candidate.document] if self._near is not None else 0.0)
        behind = BUNDLED if self.pool.bundled(candidate.document) else 0.0
        return Fit(candidate, signals, self.pool.combination.passage(signals) - behind)

    def _cosines(self, most: int) -> Cosines | NearCosines | None:
        table = self.pool.table
        vector = table.vector(self.text) if table is not None and self.pool.vectors else []
        if table is not None and not self.is_part:
            self.everyday = table.everyday(vector)
        return self.pool.vectors.cosines(vector, most)

    def _signals(self, candidate: Candidate, meaning: float) -> Signals:
        mean = self._mean
        by_words = strength(candidate.score, self.query.weight, self.pool.scorer.unseen, candidate.words)
        spread = self.most_meaning - mean
        nearness = max(0.0, (meaning - mean) / spread) if spread > 0 else 0.0
        return Signals(
            by_words,
            candidate.score * self._leading,
            meaning,
            nearness,
            self._named(candidate.document),
            min(candidate.words, _FOUR_WORDS) / _FOUR_WORDS,
            nearness * self._unled,
        )

    def _has_a_rare_word(self) -> bool:
        """Whether a skill has a word of the text that the encoder does not know, so that meaning says nothing of it."""
        table, data = self.pool.table, self.pool.scorer.data
        if table is None or self.language:  # in another language most words are rare
            return False
        spelling = self.words.spelling.items()
        return any(table.commonness(word) == 0 and data.term(term) is not None for term, word in spelling)

    def _named(self, document: int) -> float:
        """The share of a skill's name that the text has, rare words counting more."""
        if not self._begins_with_a_word(document) or self.pool.spelled_name(document).keys().isdisjoint(
            self.words.evidence
        ):
            return 0.0  # most skills; how rare the words of a name are need not be known
        name, evidence = self.pool.name(document), self.query.evidence
        return sum([weight for term, weight in name.items() if term in evidence]) / sum(name.values())

    def _begins_with_a_word(self, document: int) -> bool:
        """Whether a word of the text is where a skill's name is: its text begins with it."""
        places, most = self._places[document], self.pool.words_in_name(document)
        return bool(places) and min([positions[0] for positions in places.values()]) < most

    @cached_property
    def ranked(self) -> list[Fit]:
        """The skills that may fit, best first."""
        scores = hubs_first({document: fit.score for document, fit in self.fits.items()}, self.pool.scorer.data.parent)
        return [self.fits[document] for document in sorted(scores, key=lambda at: (-scores[at], at))]

    def nearest(self, count: int) -> list[int]:
        """The skills nearest in meaning, nearest first."""
        if self._near is None:
            return []
        return sorted(self.fits, key=lambda at: (-self.fits[at].signals.meaning, at))[:count]

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a goal."""
        return self._whole is not None

    @property
    def threshold(self) -> float:
        """The need from which it selects a skill."""
        combination = self.pool.combination
        if self.is_part:
            return combination.part
        return combination.foreign if self.language else combination.whole

    @property
    def sounds_everyday(self) -> bool:
        """Whether it takes more to select a skill, since the goal sounds like everyday talk."""
        return (self._whole or self).everyday > EVERYDAY

    @property
    def selects(self) -> bool:
        """Whether it needs a skill enough to select one."""
        return self.need >= self.threshold

    @cached_property
    def need(self) -> float:
        """The probability that the text needs a skill of the pool."""
        if not self.fits or not self.words.say_something:
            return 0.0
        best = self.ranked[0]
        if self._asks_for(best):
            return ASKED
        features = need_features(best.signals, self.agreement(best.candidate.document), self.outlook)
        if self._whole is None:
            return self.pool.combination.needed(features)
        return self.pool.combination.needed_by_part(features, self._whole.need)

    @property
    def outlook(self) -> Outlook:
        """What it is like beside all skills of the pool."""
        data, everyday = self.pool.scorer.data, (self._whole or self).everyday
        known = 1 - len(self._unknown) / max(1, len(self.words.spelling))
        if self.language and self.fits and self.pool.language(self.ranked[0].candidate.document) == self.language:
            known = (1 + known) / 2  # half of what it lacks is not for want of a translation
        deviation = self._near.deviation if self._near is not None else 0.0
        return Outlook(self.most_meaning, self._mean, deviation, known, self.unheard[1], everyday, data.total)

    @cached_property
    def unheard(self) -> tuple[str, float]:
        """The word that says most of those that no skill has, and how much it says; everyday words say nothing here."""
        if self.language or self.pool.table is None:
            return "", 0.0  # skills have hardly a word of another language
        words = [self.words.spelling[term] for term in self._unknown if self.words.evidence[term] == 1.0]
        said = [(word, self.pool.table.weight(word) or UNFAMILIAR) for word in words]
        return max(said, key=itemgetter(1), default=("", 0.0))

    @cached_property
    def _unknown(self) -> list[str]:
        """The terms that no skill has."""
        return [term for term in self.words.spelling if self.pool.scorer.data.term(term) is None]

    def agreement(self, document: int) -> Agreement:
        """What of the text a skill says."""
        return self.pool.scorer.agreement(document, self.query, self._places[document])

    def _asks_for(self, fit: Fit) -> bool:
        """Whether a short text asks, without saying so, for what a skill says it does."""
        if not self.words.asked or len(self.words.spelling) > _SHORT or self.sounds_everyday:
            return False
        return len(self.asked_of(fit.candidate.document)) > 1

    def shared(self, document: int) -> tuple[list[str], list[str]]:
        """Which words of the text are in a skill's name and description, and which only in its body."""
        return self.pool.scorer.shared(document, self._said, self._places.get(document))

    def asked_of(self, document: int) -> list[str]:
        """The terms that the text asks for without saying them, and that a skill's description has."""
        if not self.words.asked:
            return []
        return self.pool.scorer.shared(document, self._asked, self._places.get(document))[0]

    @cached_property
    def _said(self) -> dict[int, str]:
        return self.pool.scorer.numbered(self.words.spelling)

    @cached_property
    def _asked(self) -> dict[int, str]:
        return self.pool.scorer.numbered({term: term for term in self.words.asked})

    def probability(self, fit: Fit) -> float:
        """The probability that a skill is the right one."""
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
        """All skills that may fit the goal or a part of it, by number, with their scores, best first."""
        return sorted(self._scores().items(), key=lambda item: (-item[1], item[0]))

    def probability(self, document: int) -> float:
        """The probability that a skill is the right one, where it fits best."""
        found = [passage for passage in (self.whole, *self.parts) if document in passage.fits]
        return max((passage.probability(passage.fits[document]) for passage in found), default=0.0)

    def best_part(self, document: int) -> Passage | None:
        """The part that a skill fits best."""
        having = [part for part in self.parts if document in part.fits]
        return max(having, key=lambda part: part.fits[document].score, default=None)

    def _scores(self) -> dict[int, float]:
        found: dict[int, float] = {}
        for document in dict.fromkeys(at for passage in (self.whole, *self.parts) for at in passage.fits):
            whole, part = self.whole.fits.get(document), self.best_part(document)
            score = self.pool.combination.goal(
                whole.signals if whole is not None else Signals(),
                part.fits[document].signals if part is not None else None,
                len(self.parts),
            )
            found[document] = score - (BUNDLED if self.pool.bundled(document) else 0.0)
        return hubs_first(found, self.pool.scorer.data.parent)
