"""The words of a goal that can speak for a skill, and how much each does.

Numbers speak for none: those of a list, of a date or of a sum. Everyday words and the endings of file names speak half.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from goalwright_skills.selection.ranking import intents
from goalwright_skills.selection.ranking.everyday import is_everyday
from goalwright_skills.selection.terms import spelled, terms

HALF = 0.5
# Hardly a text has more different words; each counts less than the one before it, and the last of these almost nothing.
MOST = 20_000
_NUMBER = re.compile(
    r"(?<![\w.])[#$€£]?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|k|m|x|%|€|am|pm|h|min|px|mm|cm|km|kg|mb|gb)?(?!\w)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w)\.([A-Za-z][A-Za-z0-9]{0,4})(?![\w.])")


@dataclass(frozen=True, slots=True)
class GoalWords:
    """The terms of a text with their spelling and with how much each speaks, and those that it asks for unsaid."""

    spelling: dict[str, str]
    evidence: dict[str, float]
    asked: dict[str, str]

    @property
    def say_something(self) -> bool:
        """Whether the words can ask for a skill: one alone cannot, and everyday words do not add up."""
        words = [evidence for term, evidence in self.evidence.items() if len(term) > 1]
        return bool(self.asked) or (len(words) > 1 and max(words) == 1.0)

    @classmethod
    def of(cls, text: str) -> GoalWords:
        """The words of a goal, or of a part of it."""
        spelling = dict(islice(spelled(_NUMBER.sub(" ", text)).items(), MOST))
        endings = {term for match in _ENDING.finditer(text) for term in terms(match[1])}
        evidence = {term: HALF if term in endings or is_everyday(term) else 1.0 for term in spelling}
        asked = {term: name for term, name in intents.asked(text).items() if term not in spelling}
        return cls(spelling, evidence, asked)
