"""The default detector: ranks skills by words and by meaning, without a model or network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from goalwright_skills.errors import SetupError
from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.pools import Pools
from goalwright_skills.selection.query import language, triggers
from goalwright_skills.selection.ranking import listing, reasons
from goalwright_skills.selection.ranking.choosing import MOST, Choosing
from goalwright_skills.selection.ranking.reading import GoalReading

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from goalwright_skills.selection.detector import Explained, Explanation
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.selection.ranking.pool import Pool
    from goalwright_skills.skill import Skill

T = TypeVar("T")
MAX_SELECTED = MOST
# The number of skills in a planner's listing.
LISTED = 30


class RankedDetector:
    """Ranks skills for a goal; the index of all skills is kept in the folder `cache`."""

    def __init__(self, cache: Path | None = None, table: Table | None = None) -> None:
        self._table = table if table is not None else shipped_table()
        self._pools = Pools(cache, self._table)
        self._reading: GoalReading | None = None
        self._languages: tuple[Sequence[Skill], list[str]] | None = None

    @property
    def encoder(self) -> str:
        """The name of the encoder that compares meanings; empty without one."""
        return self._table.name if self._table is not None else ""

    @property
    def unindexed(self) -> int:
        """How many skills of the last goal were compared by name and description alone, since no index has them."""
        return self._pools.unindexed

    def warm(self, skills: Sequence[Skill]) -> None:
        """Load or build the index of these skills, so that the first goal does not have to."""
        if skills:
            self._pools.of(skills, "")

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that the goal names, then those that fit well enough."""
        text = triggers.without_names(goal, skills)
        fitting = self._with_pool(goal, skills, lambda pool: _fitting(self._read(text, pool)))
        return merge(triggers.named(goal, skills), fitting)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the skills that the goal names, then the best ones, some for each part of the goal."""
        ranked = self._with_pool(goal, skills, lambda pool: listing.ranked(self._read(goal, pool, limit), limit))
        return merge(triggers.named(goal, skills), ranked)[:limit]

    def explain(self, goal: str, skills: Sequence[Skill], limit: int) -> Explanation:
        """Explain why the best `limit` skills were selected or not."""
        selected = {selection.name: selection for selection in self.detect(goal, skills)}
        text = triggers.without_names(goal, skills)
        explanations = self._with_pool(
            goal, skills, lambda pool: [reasons.explained(goal, self._read(text, pool, limit), selected, limit)]
        )
        return explanations[0] if explanations else reasons.nothing(goal)

    def explain_others(self, goal: str, skills: Sequence[Skill], names: Collection[str]) -> list[Explained]:
        """Explain how the named skills fit, and why they were no candidates."""
        text = triggers.without_names(goal, skills)

        def explained(pool: Pool) -> list[Explained]:
            documents = {skill.name: number for number, skill in enumerate(pool.skills) if skill.name in names}
            reading = self._read(text, pool)
            indexed = {name: reasons.unranked(document, reading) for name, document in documents.items()}
            return [indexed.get(name) or reasons.unindexed(name) for name in names]

        return self._with_pool(goal, skills, explained)

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """Return the languages of goal and skills if they differ, which explains why few or no skills fit."""
        return next(iter(self._with_pool(goal, skills, lambda pool: [self._foreign(goal, pool)])), None)

    def _read(self, text: str, pool: Pool, limit: int = 0) -> GoalReading:
        """Read the goal for the pool; selection and listing of the same goal share one reading."""
        last = self._reading
        if last is None or last.pool is not pool or last.whole.text != text or last.limit < limit:
            last = self._reading = GoalReading(text, pool, max(limit, LISTED))
        return last

    def _foreign(self, goal: str, pool: Pool) -> Foreign | None:
        if self._languages is None or self._languages[0] is not pool.skills:
            self._languages = pool.skills, language.described_in(pool.skills)
        return language.foreign(goal, self._languages[1], pool.scorer.known)

    def _with_pool(self, goal: str, skills: Sequence[Skill], work: Callable[[Pool], list[T]]) -> list[T]:
        """Call `work` with the pool of these skills, and again with a new one if the cached index is corrupt."""
        if not skills:
            return []
        try:
            return work(self._pools.of(skills, goal))
        except (IndexError, ValueError, TypeError, OverflowError, ZeroDivisionError):
            return work(self._pools.made_again(skills, goal))


@dataclass(frozen=True, slots=True)
class TranslatedDetector:
    """Ranks a goal in another language by its own words and by `keywords` in the language of the skills.

    The keywords have a line for each part of the goal. The better of a skill's two scores counts.
    """

    ranked: RankedDetector
    keywords: str

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that fit the goal or its keywords well enough."""
        return self._merged(self.ranked.detect(goal, skills), self.ranked.detect(self.keywords, skills), MAX_SELECTED)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the best skills, without a threshold."""
        own, translated = (self.ranked.rank(text, skills, limit) for text in (goal, self.keywords))
        return self._merged(own, translated, limit)

    def _merged(self, own: Sequence[Selection], translated: Sequence[Selection], limit: int) -> list[Selection]:
        """Merge two rankings by score; on a tie, the one by the goal's own words comes first."""
        best = {selection.name: selection for selection in own}
        for selection in translated:
            by_goal = best.get(selection.name)
            if by_goal is None or selection.score > by_goal.score:
                reason = f"by the goal's keywords in translation: {selection.reason}"
                best[selection.name] = replace(selection, reason=reason)
        return sorted(best.values(), key=lambda selection: -selection.score)[:limit]


def shipped_table() -> Table | None:
    """Return the encoder's table, or None if it is missing: skills are then ranked by words alone."""
    try:
        return Table.shipped()
    except SetupError:
        return None


def _fitting(reading: GoalReading) -> list[Selection]:
    """Return the skills that a goal needs, best first; the score is the probability that a skill is right."""
    choosing = Choosing(reading)
    selections = []
    for choice in choosing.choices():
        name = reading.pool.skills[choice.document].name
        reason = reasons.of_choice(choice, reading, choosing.named.get(choice.document))
        selections.append(Selection(name, round(choice.score, 4), reason, choice.certain))
    return sorted(selections, key=lambda selection: -selection.score)
