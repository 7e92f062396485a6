"""The plainest detector: a skill fits where its name or description holds a word of the goal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skills.selection import triggers
from skills.selection.detector import Selection
from skills.selection.terms import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.skill import Skill

_WORD = re.compile(r"\w+")


class KeywordDetector:
    """Case-insensitive keyword match, most shared words first."""

    def __init__(self, most: int = 10) -> None:
        self._most = most

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that share a word with it."""
        named = triggers.named(goal, skills)
        chosen = {selection.name for selection in named}
        found = self.rank(triggers.besides(goal, skills), skills, self._most)
        return named + [selection for selection in found if selection.name not in chosen]

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The best skills by the share of the goal's words that they hold."""
        wanted = _words(goal)
        found = []
        for skill in skills:
            in_name = wanted & _words(skill.name)
            shared = wanted & _words(skill.description) | in_name
            if shared:
                where = "name and description hold" if in_name else "description holds"
                reason = f"{where} {', '.join(sorted(shared))}"
                found.append(Selection(skill.name, round(len(shared) / len(wanted), 4), reason))
        return sorted(found, key=lambda selection: (-selection.score, selection.name))[:most]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower().replace("_", " ")) if word not in STOP_WORDS}
