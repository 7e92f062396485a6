"""The default detector: skills ranked by words and by meaning, with no model to call and no network.

`ranking` reads the goal and its parts and chooses; here the index is kept, and choices become selections with reasons.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from weft_skills.errors import SetupError
from weft_skills.selection import language, triggers
from weft_skills.selection.detector import Selection, merge
from weft_skills.selection.encoder import Table
from weft_skills.selection.index import postings
from weft_skills.selection.index.postings import Postings
from weft_skills.selection.ranking import listing, reasons
from weft_skills.selection.ranking.bm25 import Scorer
from weft_skills.selection.ranking.choosing import MOST, Choosing
from weft_skills.selection.ranking.naming import named
from weft_skills.selection.ranking.pool import Pool
from weft_skills.selection.ranking.reading import GoalReading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import TypeVar

    from weft_skills.selection.explanation import Explanation
    from weft_skills.selection.language import Foreign
    from weft_skills.skill import Skill

    T = TypeVar("T")

MAX_SELECTED = MOST
# How many skills a planner is shown.
LISTED = 30


class RankedDetector:
    """Ranks skills for a goal; the index of all skills is cached in `cache` between starts."""

    def __init__(self, cache: Path | None = None, table: Table | None = None) -> None:
        self._cache = cache
        self._table = table if table is not None else shipped_table()
        self._pool: Pool | None = None
        self._reading: GoalReading | None = None
        self._languages: list[str] | None = None

    @property
    def encoder(self) -> str:
        """The name of the encoder that compares meanings; empty without one."""
        return self._table.name if self._table is not None else ""

    def warm(self, skills: Sequence[Skill]) -> None:
        """Load or build the index of these skills, so that the first goal does not have to."""
        if skills:
            self._load(skills)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit well enough; an empty list if none does."""
        rest = triggers.without_names(goal, skills)
        return merge(triggers.named(goal, skills), self._with(skills, lambda pool: _fitting(self._read(rest, pool))))

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The skills that the goal names, then the best, whatever their confidence; each part of the goal has some."""
        found = self._with(skills, lambda pool: listing.ranked(self._read(goal, pool, limit), limit))
        return merge(triggers.named(goal, skills), found)[:limit]

    def explain(self, goal: str, skills: Sequence[Skill], limit: int) -> Explanation:
        """Why skills were selected or not, for the best `limit` of them."""
        from weft_skills.selection.ranking import explaining

        selected = {selection.name: selection for selection in self.detect(goal, skills)}
        rest = triggers.without_names(goal, skills)
        found = self._with(
            skills, lambda pool: [explaining.explained(goal, self._read(rest, pool, limit), selected, limit)]
        )
        return found[0] if found else explaining.nothing(goal)

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ: the reason why few or no skills fit."""
        return next(iter(self._with(skills, lambda pool: [self._foreign(goal, pool)])), None)

    def _read(self, text: str, pool: Pool, limit: int = 0) -> GoalReading:
        """The goal read for the pool; it is read once for its selection and its listing."""
        last = self._reading
        if last is None or last.pool is not pool or last.whole.text != text or last.limit < limit:
            last = self._reading = GoalReading(text, pool, max(limit, LISTED))
        return last

    def _foreign(self, goal: str, pool: Pool) -> Foreign | None:
        if self._languages is None:
            self._languages = language.described_in(pool.skills)
        return language.foreign(goal, self._languages, pool.scorer.known)

    def _with(self, skills: Sequence[Skill], work: Callable[[Pool], list[T]]) -> list[T]:
        """What `work` gives for the pool of these skills."""
        if not skills:
            return []
        try:
            return work(self._load(skills))
        except (IndexError, ValueError, TypeError, OverflowError, ZeroDivisionError):
            # Only a cache with impossible numbers leads here: do without it.
            return work(self._build(skills, None))

    def _load(self, skills: Sequence[Skill]) -> Pool:
        """The pool of exactly these skills: from memory, else from the cache, else built."""
        pool = self._pool
        if pool is not None and len(skills) == len(pool.skills) and all(map(is_, skills, pool.skills)):
            return pool
        path = self._cache / "postings.bin" if self._cache is not None else None
        cached = postings.open_file(path) if path is not None else None
        digest = postings.digest(skills, self.encoder)
        if cached is None or not postings.cacheable(skills) or cached.digest != digest:
            return self._build(skills, cached)
        return self._keep(cached, skills)

    def _build(self, skills: Sequence[Skill], old: Postings | None) -> Pool:
        from weft_skills.selection.index import building  # only where the cache has no index of these skills

        data = building.build(skills, self._table, old)
        if self._cache is not None:
            postings.save(self._cache / "postings.bin", data)
        return self._keep(Postings(data), skills)

    def _keep(self, data: Postings, skills: Sequence[Skill]) -> Pool:
        self._pool, self._languages = Pool(list(skills), Scorer(data), data.vectors, self._table), None
        return self._pool


def shipped_table() -> Table | None:
    """The encoder's table; None where it is missing, and skills are then ranked by words alone."""
    try:
        return Table.shipped()
    except SetupError:
        return None


def _fitting(reading: GoalReading) -> list[Selection]:
    """The skills that a goal needs, with the probability that each is right, best first."""
    names = named(reading.whole)
    found: dict[int, Selection] = {}
    for choice in Choosing(reading, names).choices():
        name = reading.pool.skills[choice.document].name
        reason = reasons.of_choice(choice, reading, names.get(choice.document))
        found[choice.document] = Selection(name, round(choice.score, 4), reason, choice.certain)
    return sorted(found.values(), key=lambda selection: -selection.score)
