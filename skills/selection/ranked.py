"""The default detector: ranked retrieval over names, descriptions and bodies, with no model and no network.

    score = BM25(short) + BM25(whole) + pairs of the goal's words that are close together in either
    short = name three times, description and when_to_use without what they say about other skills; whole = short + body

`bm25` computes scores and confidences; here the confident skills are selected.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from skills.selection import postings, triggers
from skills.selection.bm25 import Scorer
from skills.selection.detector import Selection, merge
from skills.selection.postings import Postings
from skills.selection.terms import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.skill import Skill

# Confidences are scaled so that this one keeps 95 % of the right first selections, however large the pool.
THRESHOLD = 0.5
# Skills after the first are selected if their score is at least this share of the first's.
NEAR = 0.6
MAX_SELECTED = 5
# The factor for bundled skills: on a near tie the user's own comes first.
BUNDLED = 0.97


class RankedDetector:
    """Ranks skills by the goal's words; the words of all skills are cached in `cache` between starts."""

    def __init__(self, cache: Path | None = None, *, threshold: float = THRESHOLD, limit: int = MAX_SELECTED) -> None:
        self._cache = cache
        self._threshold = threshold
        self._limit = limit
        self._skills: list[Skill] = []
        self._scorer: Scorer | None = None

    def warm(self, skills: Sequence[Skill]) -> None:
        """Load or build the index of these skills, so that the first goal does not have to."""
        if skills:
            self._load(skills)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit well enough; an empty list if none does."""
        ranked = self.scored(triggers.without_names(goal, skills), skills, self._limit)
        best = ranked[0][0] if ranked else 0.0
        fitting = [found for score, found in ranked if found.score >= self._threshold and score >= NEAR * best]
        return merge(triggers.named(goal, skills), fitting)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The skills that the goal names, then the best, whatever their confidence."""
        found = [selection for _, selection in self.scored(goal, skills, limit)]
        return merge(triggers.named(goal, skills), found)[:limit]

    def scored(self, goal: str, skills: Sequence[Skill], limit: int) -> list[tuple[float, Selection]]:
        """The best skills by the goal's words, each with its score, whatever their confidence."""
        if not skills:
            return []
        words = spelled(goal)
        try:
            return self._hits(words, skills, limit, self._load(skills))
        except (IndexError, ValueError, TypeError, OverflowError):
            # Only a cache with impossible numbers leads here: do without it.
            return self._hits(words, skills, limit, self._build(skills, None))

    def _hits(
        self, words: dict[str, str], skills: Sequence[Skill], limit: int, scorer: Scorer
    ) -> list[tuple[float, Selection]]:
        hits = [(hit.score * _factor(skills[hit.document]), hit) for hit in scorer.rank(list(words), limit)]
        hits.sort(key=lambda pair: -pair[0])
        found, confidence = [], 1.0
        for score, hit in hits:
            confidence = min(confidence, hit.confidence)
            reason = _reason(*scorer.shared(hit.document, words))
            found.append((score, Selection(skills[hit.document].name, round(confidence, 4), reason)))
        return found

    def _load(self, skills: Sequence[Skill]) -> Scorer:
        """The scorer of exactly these skills: from memory, else from the cache, else built."""
        if self._scorer is not None and len(skills) == len(self._skills) and all(map(is_, skills, self._skills)):
            return self._scorer
        path = self._cache / "postings.bin" if self._cache is not None else None
        cached = postings.open_file(path) if path is not None else None
        if cached is None or not postings.cacheable(skills) or cached.digest != postings.digest(skills):
            return self._build(skills, cached)
        self._scorer, self._skills = Scorer(cached), list(skills)
        return self._scorer

    def _build(self, skills: Sequence[Skill], old: Postings | None) -> Scorer:
        data = postings.build(skills, old)
        if self._cache is not None:
            postings.save(self._cache / "postings.bin", data)
        self._scorer, self._skills = Scorer(Postings(data)), list(skills)
        return self._scorer


def _factor(skill: Skill) -> float:
    return BUNDLED if skill.source == "bundled" else 1.0


def _reason(brief: Sequence[str], body: Sequence[str]) -> str:
    """Which words of the goal are in which part of a skill."""
    parts = (("description", brief), ("body", body))
    found = [f"{part}: {', '.join(words[:8])}" for part, words in parts if words]
    return f"words of the goal in its {'; in its '.join(found)}"
