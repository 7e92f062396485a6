"""The default detector: ranked retrieval over names, descriptions and bodies, with no model and no network.

    score = BM25(short) + BM25(whole) + pairs of the goal's words that stand close together in either
    short = name thrice, description and when_to_use without what they say of other skills; whole = short + body

`pool` has the sums; here a score becomes a confidence, and the confident ones are selected.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from skills.selection import postings, triggers
from skills.selection.bm25 import Scorer
from skills.selection.detector import Selection
from skills.selection.postings import Postings
from skills.selection.terms import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.skill import Skill

# A confidence is made such that this one keeps 95 % of the right first selections, however large the pool.
THRESHOLD = 0.5
# Of the others, those count that come near the first.
NEAR = 0.6
MOST = 5
# A skill that ships counts this much of its score: on a near tie the user's own comes first.
SHIPPED = 0.97


class RankedDetector:
    """Ranks skills by the goal's words; keeps the words of all skills in `cache` between starts."""

    def __init__(self, cache: Path | None = None, *, threshold: float = THRESHOLD, most: int = MOST) -> None:
        self._cache = cache
        self._threshold = threshold
        self._most = most
        self._skills: list[Skill] = []
        self._pool: Scorer | None = None

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit it well enough; none where none does."""
        named = triggers.named(goal, skills)
        ranked = self.scored(triggers.besides(goal, skills), skills, self._most)
        best = ranked[0][0] if ranked else 0.0
        fitting = [found for score, found in ranked if found.score >= self._threshold and score >= NEAR * best]
        return _merged(named, fitting)

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The skills that the goal names, then the best whatever their confidence."""
        found = [selection for _, selection in self.scored(goal, skills, most)]
        return _merged(triggers.named(goal, skills), found)[:most]

    def scored(self, goal: str, skills: Sequence[Skill], most: int) -> list[tuple[float, Selection]]:
        """The best by the goal's words, each with its score, whatever their confidence."""
        if not skills:
            return []
        words = spelled(goal)
        try:
            return self._hits(words, skills, most, self._load(skills))
        except (IndexError, ValueError, TypeError, OverflowError):
            # Only numbers that no honest file holds lead here: do without the cache.
            return self._hits(words, skills, most, self._make(skills, None))

    def _hits(
        self, words: dict[str, str], skills: Sequence[Skill], most: int, scorer: Scorer
    ) -> list[tuple[float, Selection]]:
        hits = [(hit.score * _standing(skills[hit.document]), hit) for hit in scorer.rank(list(words), most)]
        hits.sort(key=lambda pair: -pair[0])
        found, sure = [], 1.0
        for score, hit in hits:
            sure = min(sure, hit.confidence)
            reason = _reason(*scorer.shared(hit.document, words))
            found.append((score, Selection(skills[hit.document].name, round(sure, 4), reason)))
        return found

    def _load(self, skills: Sequence[Skill]) -> Scorer:
        """The pool of these very skills: in memory, else mapped from the cache, else made."""
        if self._pool is not None and len(skills) == len(self._skills) and all(map(is_, skills, self._skills)):
            return self._pool
        path = self._cache / "postings.bin" if self._cache is not None else None
        kept = postings.open_file(path) if path is not None else None
        if kept is None or not postings.sure(skills) or kept.digest != postings.digest(skills):
            return self._make(skills, kept)
        self._pool, self._skills = Scorer(kept), list(skills)
        return self._pool

    def _make(self, skills: Sequence[Skill], old: Postings | None) -> Scorer:
        data = postings.build(skills, old)
        if self._cache is not None:
            postings.save(self._cache / "postings.bin", data)
        self._pool, self._skills = Scorer(Postings(data)), list(skills)
        return self._pool


def _standing(skill: Skill) -> float:
    return SHIPPED if skill.source == "bundled" else 1.0


def _merged(named: list[Selection], ranked: list[Selection]) -> list[Selection]:
    chosen = {selection.name for selection in named}
    return named + [selection for selection in ranked if selection.name not in chosen]


def _reason(brief: Sequence[str], body: Sequence[str]) -> str:
    """Which words of the goal stand where in a skill."""
    places = (("description", brief), ("body", body))
    said = [f"{where}: {', '.join(words[:8])}" for where, words in places if words]
    return f"words of the goal in its {'; in its '.join(said)}"
