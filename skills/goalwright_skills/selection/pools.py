"""Pools of skills, ready to be ranked: from memory, from the cache, or built.

A small pool has one index, built at once. A large one is indexed by a background process, segment by segment; until it
is done, goals are ranked by the existing segments and by the names and descriptions of the other skills.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING

from goalwright_skills.selection.index import postings
from goalwright_skills.selection.index.postings import Postings
from goalwright_skills.selection.query.goal_words import GoalWords
from goalwright_skills.selection.ranking.bm25 import Scorer
from goalwright_skills.selection.ranking.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.selection.index.stored import Described, Shortlist, Stored
    from goalwright_skills.skill import Skill

# The number of skills that are indexed before a goal is ranked: of a whole collection, and of new skills in a large
# one.
AT_ONCE, FEW = 2_000, 50
# While skills are being indexed, the segments are loaded again after this time, or a multiple of the loading time.
_AGAIN_SECONDS, _TIMES = 3.0, 20


@dataclass(slots=True)
class _Large:
    """A large collection as far as it is indexed, and the pool of the last goal."""

    skills: Sequence[Skill]
    stored: Stored
    again: float
    pool: Pool | None = None
    goal: str = ""
    described: Described | None = None

    def is_current(self, skills: Sequence[Skill]) -> bool:
        if not _same(skills, self.skills):
            return False
        return not self.stored.missing or time.monotonic() < self.again

    def shortlist(self, goal: str) -> Shortlist:
        """Return the skills without an index that may fit the goal, by its words with the most evidence."""
        from goalwright_skills.selection.index.stored import Described

        if self.described is None:
            self.described = Described(self.stored.missing)
        words = GoalWords.of(goal)
        by_evidence = sorted(words.spelling, key=lambda term: -words.evidence[term])
        return self.described.shortlist({term: words.spelling[term] for term in by_evidence})


class Pools:
    """The pool of the last skills; their indexes are kept in the folder `cache`."""

    def __init__(self, cache: Path | None, table: Table | None) -> None:
        self._cache, self._table = cache, table
        self._small: tuple[Sequence[Skill], Pool] | None = None
        self._large: _Large | None = None
        self._process = 0

    def of(self, skills: Sequence[Skill], goal: str) -> Pool:
        """Return the pool of these skills; a large pool has those that are indexed or may fit the goal."""
        if self._small is not None and _same(skills, self._small[0]):
            return self._small[1]
        if len(skills) > AT_ONCE and (large := self._opened(skills)) is not None:
            return self._of_large(large, goal)
        old = None
        for path in (self._own, self._bundled):
            cached = postings.open_file(path) if path is not None else None
            if cached is not None and self._is_current(cached, skills):
                return self._keep(cached, skills)
            old = old or cached
        return self.made(skills, old)

    def made_again(self, skills: Sequence[Skill], goal: str) -> Pool:
        """Return the pool of these skills without the cache, which is corrupt."""
        if self._large is None or self._cache is None:
            return self.made(skills)
        from goalwright_skills.selection.index import stored

        stored.discard(self._cache / "segments")
        self._large = None
        return self.of(skills, goal)

    def made(self, skills: Sequence[Skill], old: Postings | None = None) -> Pool:
        """Index these skills now; unchanged skills are taken from the index `old`."""
        from goalwright_skills.selection.index import building  # only needed if the cache has no index of these skills

        data = building.build(skills, self._table, old)
        path = self._bundled if all(skill.source == "bundled" for skill in skills) else self._own
        if path is not None:
            postings.save(path, data)
        return self._keep(Postings(data), skills)

    @property
    def unindexed(self) -> int:
        """How many skills of the last pool were compared by name and description alone, since no index has them."""
        missing = len(self._large.stored.missing) if self._large is not None else 0
        return missing if missing > FEW else 0

    @property
    def _own(self) -> Path | None:
        return self._cache / "postings.bin" if self._cache is not None else None

    @property
    def _bundled(self) -> Path | None:
        """The index of the bundled skills, which all workspaces of a user share."""
        return self._cache.parent / "bundled.bin" if self._cache is not None else None

    def _is_current(self, index: Postings, skills: Sequence[Skill]) -> bool:
        return postings.cacheable(skills) and index.digest == postings.digest(skills, self._encoder)

    @property
    def _encoder(self) -> str:
        return self._table.name if self._table is not None else ""

    def _keep(self, data: Postings, skills: Sequence[Skill]) -> Pool:
        pool = Pool(list(skills), Scorer(data), data.vectors, self._table)
        self._small, self._large = (pool.skills, pool), None
        return pool

    def _opened(self, skills: Sequence[Skill]) -> _Large | None:
        """Load the segments of a large collection and start indexing the others; None if it must be indexed at once."""
        if self._large is not None and self._large.is_current(skills):
            return self._large
        from goalwright_skills.selection.index import background, stored

        if self._cache is None or not background.can_start(self._encoder):
            return None
        if self._process and background.ended(self._process):
            self._process = 0
        folder, began = self._cache / "segments", time.monotonic()
        loaded = stored.load(folder, skills, self._encoder)
        if loaded.stale and not self._process:
            try:
                self._process = background.start(folder, skills)
            except OSError:
                return None
        self._small = None
        now = time.monotonic()
        self._large = _Large(skills, loaded, now + max(_AGAIN_SECONDS, _TIMES * (now - began)))
        return self._large

    def _of_large(self, large: _Large, goal: str) -> Pool:
        """Return the pool of a large collection, which depends on the goal while much of it is not indexed."""
        if large.pool is None or (self.unindexed and large.goal != goal):
            large.pool, large.goal = self._pool(large, goal), goal
        return large.pool

    def _pool(self, large: _Large, goal: str) -> Pool:
        from goalwright_skills.selection.index import building, skill_text
        from goalwright_skills.selection.index.segments import IndexSegment, Segments, Unseen
        from goalwright_skills.selection.index.stored import Shortlist

        shortlist = large.shortlist(goal) if self.unindexed else Shortlist(large.stored.missing, Unseen())
        read = skill_text.described if self.unindexed else None
        segments = list(large.stored.segments)
        if shortlist.skills:
            made = building.build(shortlist.skills, self._table, read=read, among_others=True)
            segments.append(IndexSegment(Postings(made), range(len(shortlist.skills))))
        data = Segments(segments, shortlist.others)
        return Pool([*large.stored.indexed, *shortlist.skills], Scorer(data), data.vectors, self._table)


def _same(skills: Sequence[Skill], others: Sequence[Skill]) -> bool:
    """Whether two sequences contain the identical objects."""
    return skills is others or (len(skills) == len(others) and all(map(is_, skills, others)))
