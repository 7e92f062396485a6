"""The default detector: skills ranked by words and by meaning, with no model to call and no network.

`ranking` reads the goal and its parts and chooses, `pools` keeps the index; here, choices become selections.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_skills.errors import SetupError
from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.pools import Pools
from goalwright_skills.selection.query import language, triggers
from goalwright_skills.selection.ranking import listing, reasons
from goalwright_skills.selection.ranking.choosing import MOST, Choosing, named
from goalwright_skills.selection.ranking.reading import GoalReading

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path
    from typing import TypeVar

    from goalwright_skills.selection.detector import Explained, Explanation
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.selection.ranking.pool import Pool
    from goalwright_skills.skill import Skill

    T = TypeVar("T")


MAX_SELECTED = MOST
# How many skills a planner is shown.
LISTED = 30


class RankedDetector:
    """Ranks skills for a goal; the index of all skills is cached in `cache` between starts."""

    def __init__(self, cache: Path | None = None, table: Table | None = None) -> None:
        self._table = table if table is not None else shipped_table()
        self._pools = Pools(cache, self._table)
        self._reading: GoalReading | None = None
        self._languages: tuple[Sequence[Skill], list[str]] | None = None

    @property
    def encoder(self) -> str:
        """The name of the encoder that compares meanings; empty without one."""
        return self._table.name if self._table is not None else ""

    def warm(self, skills: Sequence[Skill]) -> None:
        """Load or build the index of these skills, or begin to, so that the first goal does not have to."""
        if skills:
            self._pools.of(skills, "")

    @property
    def unindexed(self) -> int:
        """How many of the skills asked for last were looked at by name and description alone: the index lacks them."""
        return self._pools.unindexed

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit well enough, without those it says not to use."""
        rest, refused = triggers.without_names(goal, skills), triggers.refused(goal, skills)
        fitting = self._with(goal, skills, lambda pool: _fitting(self._read(rest, pool, without=refused)))
        return merge(triggers.named(goal, skills), [one for one in fitting if one.name not in refused])

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The skills that the goal names, then the best, whatever their confidence; each part of the goal has some."""
        found = self._with(goal, skills, lambda pool: listing.ranked(self._read(goal, pool, limit), limit))
        return merge(triggers.named(goal, skills), found)[:limit]

    def explain(self, goal: str, skills: Sequence[Skill], limit: int) -> Explanation:
        """Why skills were selected or not, for the best `limit` of them."""
        selected = {selection.name: selection for selection in self.detect(goal, skills)}
        rest, refused = triggers.without_names(goal, skills), triggers.refused(goal, skills)
        found = self._with(
            goal,
            skills,
            lambda pool: [reasons.explained(goal, self._read(rest, pool, limit, refused), selected, limit)],
        )
        return found[0] if found else reasons.nothing(goal)

    def explain_others(self, goal: str, skills: Sequence[Skill], names: Collection[str]) -> list[Explained]:
        """How the skills of these names fit, though they are not among the best, and why they were not looked at."""
        rest, refused = triggers.without_names(goal, skills), triggers.refused(goal, skills)

        def explained(pool: Pool) -> list[Explained]:
            numbers = {skill.name: at for at, skill in enumerate(pool.skills) if skill.name in names}
            reading = self._read(rest, pool, without=refused)
            known = {name: reasons.unranked(at, reading) for name, at in numbers.items()}
            return [known.get(name) or reasons.unindexed(name) for name in names]

        return self._with(goal, skills, explained)

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ: the reason why few or no skills fit."""
        return next(iter(self._with(goal, skills, lambda pool: [self._foreign(goal, pool)])), None)

    def _read(self, text: str, pool: Pool, limit: int = 0, without: Collection[str] = ()) -> GoalReading:
        """The goal read for the pool `without` skills of these names; it is read once for selection and listing."""
        left = {at for at, skill in enumerate(pool.skills) if skill.name in without} if without else set()
        last = self._reading
        same = last is not None and last.pool is pool and last.whole.text == text and last.without == left
        if last is None or not same or last.limit < limit:
            last = self._reading = GoalReading(text, pool, max(limit, LISTED), left)
        return last

    def _foreign(self, goal: str, pool: Pool) -> Foreign | None:
        if self._languages is None or self._languages[0] is not pool.skills:
            self._languages = pool.skills, language.described_in(pool.skills)
        return language.foreign(goal, self._languages[1], pool.scorer.known)

    def _with(self, goal: str, skills: Sequence[Skill], work: Callable[[Pool], list[T]]) -> list[T]:
        """What `work` gives for the pool of these skills, as far as the goal needs them."""
        if not skills:
            return []
        try:
            return work(self._pools.of(skills, goal))
        except (IndexError, ValueError, TypeError, OverflowError, ZeroDivisionError):
            # Only a cache with impossible numbers leads here: do without it.
            return work(self._pools.made_again(skills, goal))


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


@dataclass(frozen=True, slots=True)
class TranslatedDetector:
    """Selects for one goal by its words and by its `keywords`, one line for each thing that it asks for."""

    ranked: RankedDetector
    keywords: str

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that fit the goal or its keywords well enough; an empty list if none does."""
        return self._merged(self.ranked.detect(goal, skills), self.ranked.detect(self.keywords, skills), MAX_SELECTED)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best skills, whatever their confidence."""
        own, translated = (self.ranked.rank(text, skills, limit) for text in (goal, self.keywords))
        return self._merged(own, translated, limit)

    def _merged(self, own: Sequence[Selection], translated: Sequence[Selection], limit: int) -> list[Selection]:
        """Two rankings of the same goal as one: by the better score of each skill, the goal's own first on a tie."""
        best = {selection.name: selection for selection in own}
        for selection in translated:
            before = best.get(selection.name)
            if before is None or selection.score > before.score:
                best[selection.name] = replace(
                    selection, reason=f"by the goal's keywords in translation: {selection.reason}"
                )
        return sorted(best.values(), key=lambda selection: -selection.score)[:limit]
