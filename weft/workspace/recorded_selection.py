"""The skills that a recorded run selected and listed, as a detector: for runs that selected by earlier rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft_skills.selection.detector import Selection, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_executor.history.run_history import RunHistory
    from weft_skills.skill import Skill

_NAME = re.compile(r"^<name>(.*)</name>$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RecordedSelection:
    """Selects what a run selected, and ranks as it listed; what became of these skills since is still found."""

    selections: tuple[Selection, ...]
    listed: tuple[str, ...]

    @classmethod
    def of(cls, history: RunHistory) -> RecordedSelection | None:
        """The selection on record, if the run got that far."""
        if history.catalogue is None or history.selected is None:
            return None
        return cls(tuple(history.selected.selections), tuple(_NAME.findall(history.catalogue.skill_listing)))

    @property
    def most(self) -> int:
        """How many skills the listing has."""
        return len(self.listed)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The recorded selections of which the skills still exist."""
        names = {skill.name for skill in skills}
        return [one for one in self.selections if one.name in names]

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The skills in the order of the recorded listing."""
        names = {skill.name for skill in skills}
        listed = [Selection(name, 0.0, "listed then") for name in self.listed if name in names]
        return merge(self.detect(goal, skills), listed)[:most]
