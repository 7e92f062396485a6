"""Pools of skills, ready to be ranked: from memory, from the cache, or made.

A small pool is one index, made at once. A large one is indexed by a process in the background, segment by segment;
until that is done, a goal is answered from the segments that there are, and from the names and descriptions of the
other skills.
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

# Up to this many skills are indexed before a goal is answered: a whole collection, or what is new in a large one.
AT_ONCE, FEW = 2_000, 50
# While skills are being indexed, what there is is looked at again after this time, and a multiple of what that took.
_AGAIN_SECONDS, _TIMES = 3.0, 20


@dataclass(slots=True)
class _Large:
    """A large collection as far as it is indexed, and the pool of the last goal."""

    given: Sequence[Skill]
    stored: Stored
    again: float
    pool: Pool | None = None
    goal: str = ""
    described: Described | None = None

    def is_current(self, skills: Sequence[Skill]) -> bool:
        if not _same(skills, self.given):
            return False
        return not self.stored.missing or time.monotonic() < self.again

    def shortlist(self, goal: str) -> Shortlist:
        """The skills that the goal may be about among those that are not indexed; words that speak most come first."""
        from goalwright_skills.selection.index.stored import Described

        if self.described is None:
            self.described = Described(self.stored.missing)
        words = GoalWords.of(goal)
        telling = sorted(words.spelling, key=lambda term: -words.evidence[term])
        return self.described.shortlist({term: words.spelling[term] for term in telling})


class Pools:
    """The pool of the skills that were asked for last; indexes are kept in `cache` between starts."""

    def __init__(self, cache: Path | None, table: Table | None) -> None:
        self._cache, self._table = cache, table
        self._small: tuple[Sequence[Skill], Pool] | None = None
        self._large: _Large | None = None
        self._process = 0

    def of(self, skills: Sequence[Skill], goal: str) -> Pool:
        """The pool of exactly these skills, as far as they are indexed, and those that may be for the goal."""
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
        """The pool of these skills without what is in the cache, which makes no sense."""
        if self._large is None or self._cache is None:
            return self.made(skills)
        from goalwright_skills.selection.index import stored

        stored.discard(self._cache / "segments")
        self._large = None
        return self.of(skills, goal)

    def made(self, skills: Sequence[Skill], old: Postings | None = None) -> Pool:
        """The pool of these skills, indexed now; what `old` has of unchanged ones is not read again."""
        from goalwright_skills.selection.index import building  # only where the cache has no index of these skills

        data = building.build(skills, self._table, old)
        path = self._bundled if all(skill.source == "bundled" for skill in skills) else self._own
        if path is not None:
            postings.save(path, data)
        return self._keep(Postings(data), skills)

    @property
    def unindexed(self) -> int:
        """How many skills of the last pool were looked at by name and description alone, since no index has them."""
        missing = len(self._large.stored.missing) if self._large is not None else 0
        return missing if missing > FEW else 0

    @property
    def _own(self) -> Path | None:
        return self._cache / "postings.bin" if self._cache is not None else None

    @property
    def _bundled(self) -> Path | None:
        """The index of the skills that goalwright brings along, which all workspaces of a user share."""
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
        """What there is of a large collection, the rest being indexed from now on; None if that has to be at once."""
        if self._large is not None and self._large.is_current(skills):
            return self._large
        from goalwright_skills.selection.index import background, stored

        if self._cache is None or not background.can_start(self._encoder):
            return None
        if self._process and background.ended(self._process):
            self._process = 0
        folder, began = self._cache / "segments", time.monotonic()
        found = stored.load(folder, skills, self._encoder)
        if found.stale and not self._process:
            try:
                self._process = background.start(folder, skills)
            except OSError:
                return None
        self._small = None
        now = time.monotonic()
        self._large = _Large(skills, found, now + max(_AGAIN_SECONDS, _TIMES * (now - began)))
        return self._large

    def _of_large(self, large: _Large, goal: str) -> Pool:
        """The pool of a large collection; it depends on the goal while much of it is not indexed."""
        if large.pool is None or (self.unindexed and large.goal != goal):
            large.pool, large.goal = self._pool(large, goal), goal
        return large.pool

    def _pool(self, large: _Large, goal: str) -> Pool:
        from goalwright_skills.selection.index import building, skill_text
        from goalwright_skills.selection.index.segments import IndexSegment, Segments, Unseen
        from goalwright_skills.selection.index.stored import Shortlist

        found = large.shortlist(goal) if self.unindexed else Shortlist(large.stored.missing, Unseen())
        read = skill_text.described if self.unindexed else None
        segments = list(large.stored.segments)
        if found.skills:
            made = building.build(found.skills, self._table, read=read, among_others=True)
            segments.append(IndexSegment(Postings(made), range(len(found.skills))))
        data = Segments(segments, found.others)
        return Pool([*large.stored.indexed, *found.skills], Scorer(data), data.vectors, self._table)


def _same(skills: Sequence[Skill], others: Sequence[Skill]) -> bool:
    """Whether two sequences have the very same skills."""
    return skills is others or (len(skills) == len(others) and all(map(is_, skills, others)))
