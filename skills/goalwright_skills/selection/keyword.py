"""The simplest detector: a skill fits if its name or description contains a word of the goal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.selection.query import triggers
from goalwright_skills.selection.query.terms import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.skill import Skill

_WORD = re.compile(r"\w+")
_MOST = 10


class KeywordDetector:
    """Case-insensitive keyword match, most shared words first."""

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that share a word with it."""
        found = self.rank(triggers.without_names(goal, skills), skills, _MOST)
        return merge(triggers.named(goal, skills), found)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best skills by the share of the goal's words that they contain."""
        wanted = _words(goal)
        found = []
        for skill in skills:
            in_name = wanted & _words(skill.name)
            shared = wanted & _words(skill.description) | in_name
            if shared:
                where = "name and description contain" if in_name else "description contains"
                reason = f"{where} {', '.join(sorted(shared))}"
                found.append(Selection(skill.name, round(len(shared) / len(wanted), 4), reason))
        return sorted(found, key=lambda selection: (-selection.score, selection.name))[:limit]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower().replace("_", " ")) if word not in STOP_WORDS}
