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
_MAX_SELECTED = 10


class KeywordDetector:
    """Ranks skills by the words that they share with the goal, case-insensitively."""

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that the goal names, then those that share a word with it."""
        ranked = self.rank(triggers.without_names(goal, skills), skills, _MAX_SELECTED)
        return merge(triggers.named(goal, skills), ranked)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the skills with the largest share of the goal's words."""
        goal_words = _words(goal)
        selections = []
        for skill in skills:
            in_name = goal_words & _words(skill.name)
            shared = goal_words & _words(skill.description) | in_name
            if shared:
                source = "name and description contain" if in_name else "description contains"
                reason = f"{source} {', '.join(sorted(shared))}"
                selections.append(Selection(skill.name, round(len(shared) / len(goal_words), 4), reason))
        return sorted(selections, key=lambda selection: (-selection.score, selection.name))[:limit]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower().replace("_", " ")) if word not in STOP_WORDS}
