"""The default detector: ranked retrieval over names, descriptions and bodies, with no model and no network.

`ranking` finds the candidates; here the confident ones are selected, as a set that covers the goal.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from weft_skills.selection import language, triggers
from weft_skills.selection.descriptions import spoken_name
from weft_skills.selection.detector import Selection, merge
from weft_skills.selection.ranking import building, confidence, intents, postings
from weft_skills.selection.ranking.bm25 import CANDIDATES, Scorer
from weft_skills.selection.ranking.cover import MOST, Cover, bound
from weft_skills.selection.ranking.postings import Postings
from weft_skills.selection.terms import spelled, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import TypeVar

    from weft_skills.selection.language import Foreign
    from weft_skills.selection.ranking.bm25 import Query
    from weft_skills.selection.ranking.candidate import Candidate
    from weft_skills.selection.ranking.cover import Pick
    from weft_skills.skill import Skill

    T = TypeVar("T")

# The probability from which a skill is selected: it keeps 98 % of the right first selections.
THRESHOLD = 0.34
MAX_SELECTED = MOST
# The probability from which a selected skill is certain.
CERTAIN = 0.9
# The factor for bundled skills: on a near tie the user's own comes first.
BUNDLED = 0.97


class RankedDetector:
    """Ranks skills by the goal's words; the words of all skills are cached in `cache` between starts."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._skills: list[Skill] = []
        self._scorer: Scorer | None = None
        self._languages: list[str] | None = None

    def warm(self, skills: Sequence[Skill]) -> None:
        """Load or build the index of these skills, so that the first goal does not have to."""
        if skills:
            self._load(skills)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit well enough; an empty list if none does."""
        rest = triggers.without_names(goal, skills)
        return merge(triggers.named(goal, skills), self._with(skills, lambda scorer: self._fitting(rest, scorer)))

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The skills that the goal names, then the best, whatever their confidence."""
        found = [selection for _, selection in self.scored(goal, skills, limit)]
        return merge(triggers.named(goal, skills), found)[:limit]

    def scored(self, goal: str, skills: Sequence[Skill], limit: int) -> list[tuple[float, Selection]]:
        """The best skills by the goal's words, each with its score, whatever their confidence."""
        return self._with(skills, lambda scorer: self._ranked(goal, limit, scorer))

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ: the reason why few or no skills fit."""
        return next(iter(self._with(skills, lambda scorer: [self._foreign(goal, scorer)])), None)

    def _foreign(self, goal: str, scorer: Scorer) -> Foreign | None:
        if self._languages is None:
            self._languages = language.described_in(self._skills)
        return language.foreign(goal, self._languages, scorer.known)

    def _fitting(self, text: str, scorer: Scorer) -> list[Selection]:
        """The first skill if it is probably right, then those that fit what it leaves of the goal."""
        reader = _Reader(text, scorer, self._skills)
        candidates = reader.candidates(CANDIDATES)
        if not candidates or reader.probability(candidates[0]) < THRESHOLD:
            return []
        cover = Cover(reader.query, scorer, reader.name, reader.bundled)
        chosen = cover.chosen(candidates, min(MAX_SELECTED, bound(text)))
        most = reader.probability(candidates[0])
        scores = [min(most, confidence.probability(pick.strength, pick.words) * pick.share) for pick in chosen]
        found = [
            Selection(reader.skill(pick.candidate).name, round(score, 4), reader.reason(pick), certain=score >= CERTAIN)
            for pick, score in zip(chosen, scores, strict=True)
        ]
        return sorted(found, key=lambda selection: -selection.score)

    def _ranked(self, text: str, limit: int, scorer: Scorer) -> list[tuple[float, Selection]]:
        reader = _Reader(text, scorer, self._skills)
        found: list[tuple[float, Selection]] = []
        most = confidence.MOST
        for candidate in reader.candidates(limit):
            share = confidence.behind(candidate.score, found[0][0]) if found else 1.0
            most = min(most, reader.probability(candidate) * share)
            found.append(
                (candidate.score, Selection(reader.skill(candidate).name, round(most, 4), reader.reason_of(candidate)))
            )
        return found

    def _with(self, skills: Sequence[Skill], work: Callable[[Scorer], list[T]]) -> list[T]:
        """What `work` gives for the scorer of these skills."""
        if not skills:
            return []
        try:
            return work(self._load(skills))
        except (IndexError, ValueError, TypeError, OverflowError, ZeroDivisionError):
            # Only a cache with impossible numbers leads here: do without it.
            return work(self._build(skills, None))

    def _load(self, skills: Sequence[Skill]) -> Scorer:
        """The scorer of exactly these skills: from memory, else from the cache, else built."""
        if self._scorer is not None and len(skills) == len(self._skills) and all(map(is_, skills, self._skills)):
            return self._scorer
        path = self._cache / "postings.bin" if self._cache is not None else None
        cached = postings.open_file(path) if path is not None else None
        if cached is None or not postings.cacheable(skills) or cached.digest != postings.digest(skills):
            return self._build(skills, cached)
        return self._keep(cached, skills)

    def _build(self, skills: Sequence[Skill], old: Postings | None) -> Scorer:
        data = building.build(skills, old)
        if self._cache is not None:
            postings.save(self._cache / "postings.bin", data)
        return self._keep(Postings(data), skills)

    def _keep(self, data: Postings, skills: Sequence[Skill]) -> Scorer:
        self._scorer, self._skills, self._languages = Scorer(data), list(skills), None
        return self._scorer


class _Reader:
    """One goal's text read for a pool: its words, the candidates for them, and why each is one."""

    def __init__(self, text: str, scorer: Scorer, skills: Sequence[Skill]) -> None:
        self._scorer = scorer
        self._skills = skills
        self._words = spelled(text)
        self._asked = {term: name for term, name in intents.asked(text).items() if term not in self._words}
        self.query: Query = scorer.query(list(self._words), list(self._asked))

    def candidates(self, limit: int) -> list[Candidate]:
        """The best skills, best first."""
        found = self._scorer.best(self.query, limit)
        return sorted(
            found, key=lambda candidate: -candidate.score * (BUNDLED if self.bundled(candidate.document) else 1.0)
        )

    def probability(self, candidate: Candidate) -> float:
        """The probability that a skill is the right one for the whole goal."""
        strength = confidence.strength(candidate.score, self.query.weight, self._scorer.unseen, candidate.words)
        return confidence.probability(strength, candidate.words)

    def skill(self, candidate: Candidate) -> Skill:
        """The skill of a candidate."""
        return self._skills[candidate.document]

    def bundled(self, document: int) -> bool:
        """Whether a skill ships with weft."""
        return self._skills[document].source == "bundled"

    def name(self, document: int) -> set[int]:
        """The terms of a skill's name."""
        numbers = map(self._scorer.data.term, terms(spoken_name(self._skills[document])))
        return {number for number in numbers if number is not None}

    def reason(self, pick: Pick) -> str:
        """Why a skill was chosen."""
        own = self.reason_of(pick.candidate)
        if pick.partner is None:
            return own
        partner = self._skills[pick.partner].name
        return "; ".join(filter(None, (own, f"{partner} is used with it" if pick.needed else f"goes with {partner}")))

    def reason_of(self, candidate: Candidate) -> str:
        """Which words of the goal are in which part of a skill."""
        brief, body = self._scorer.shared(candidate.document, self._words)
        parts = (("description", brief), ("body", body))
        found = [f"{part}: {', '.join(words[:8])}" for part, words in parts if words]
        reasons = [f"words of the goal in its {'; in its '.join(found)}"] if found else []
        terms_asked = {term: term for term in self._asked}
        has = {*self._scorer.shared(candidate.document, terms_asked)[0]}
        reasons += [f"the goal asks for {name}" for name in dict.fromkeys(self._asked[term] for term in has)]
        if candidate.nested is not None:
            reasons.append(f"{self._skills[candidate.nested].name} in its folder fits")
        return "; ".join(reasons)
