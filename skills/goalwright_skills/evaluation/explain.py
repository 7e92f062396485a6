"""Explains why a goal missed its skill, by words, and which description to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.evaluation.words import Vocabulary
from goalwright_skills.selection.detectors import top
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.text.formatting import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.evaluation.evaluate import Outcome
    from goalwright_skills.evaluation.words import Shared
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.skill import Skill

# The number of ranked skills that are searched for an expected one.
_DEPTH = 50
_MOST_WORDS = 6
_MOST_NAMES = 3


class Explainer:
    """Explains misses; `absent` has the reasons why skills are not active, by name."""

    def __init__(
        self, skills: Sequence[Skill], detector: SkillDetector, absent: Mapping[str, str] | None = None
    ) -> None:
        self._skills = skills
        self._detector = detector
        self._names = [skill.name for skill in skills]
        self._known = set(self._names)
        self._absent = absent or {}
        self.words = Vocabulary(skills)

    def why(self, miss: Outcome) -> str:
        """Explain a miss and what to change, in a sentence or more for each skill."""
        if not miss.expected:
            return self._wrongly_picked(miss)
        ranking = top(self._detector, miss.goal.goal, self._skills, _DEPTH)
        places = {selection.name: place for place, selection in enumerate(ranking, 1) if selection.score > 0}
        scores = {selection.name: selection.score for selection in (*ranking, *miss.selected)}
        names = miss.missing or miss.expected[:1]
        if explanation := self._language(miss.goal.goal, names[0]):
            return explanation
        return " ".join(self._missed(miss, name, ranking, places.get(name), scores) for name in names)

    def _language(self, goal: str, name: str) -> str:
        """Explain the miss of a goal in another language than the skills, whose words prove nothing."""
        by_words = self._detector if isinstance(self._detector, RankedDetector) and name in self._known else None
        foreign = by_words.foreign(goal, self._skills) if by_words is not None else None
        if foreign is None or foreign.familiar:
            return ""
        return (
            f"The goal is in {foreign.goal} and the skills are described in {foreign.skills}: a run asks its model for "
            f"{foreign.skills} keywords. To do without, add a {foreign.goal} sentence to the description of {name}."
        )

    def unknown(self, name: str) -> str:
        """Return why an expected skill cannot be selected; empty if it can."""
        if name in self._known:
            return ""
        if name in self._absent:
            return f"the skill {name!r} is {self._absent[name]} and cannot be selected"
        near = ", ".join(nearest(name, self._names, _MOST_NAMES))
        return f"there is no skill {name!r} here" + (f"; the nearest names are {near}" if near else "")

    def _missed(
        self, miss: Outcome, name: str, ranking: Sequence[Selection], place: int | None, scores: Mapping[str, float]
    ) -> str:
        if reason := self.unknown(name):
            return f"{reason[0].upper()}{reason[1:]}."
        shared = self.words.shared(miss.goal.goal, name)
        standing = f"{name} ranks {_ordinal(place)} with {scores[name]:.2f}" if place else f"{name} is not ranked"
        first = next((selection for selection in ranking if selection.name not in miss.expected), None)
        if first is not None and (place is None or ranking.index(first) < place - 1):
            won = self.words.shared(miss.goal.goal, first.name)
            where = "first" if first is ranking[0] else f"before {name}"
            explanation = f"{self._winner(first, where, won, shared)}; {standing}. {self._remedy(name, shared, won)}"
            return f"{explanation}, or write `For …, use {name}.` in that of {first.name}."
        if name not in {selection.name for selection in miss.selected}:
            standing = f"{standing}, too little to be selected"
        return f"{standing}. {self._remedy(name, shared)}."

    def _winner(self, first: Selection, where: str, won: Shared, beaten: Shared) -> str:
        """Name the words by which another skill won, first those that the beaten skill lacks."""
        words = sorted(won.description, key=lambda word: word not in beaten.lacking)
        by = f"for {_quoted(words)} in its description" if words else f"for {_quoted(won.body)} in its body"
        return f"{first.name} comes {where} ({first.score:.2f}), {by if words or won.body else first.reason}"

    def _remedy(self, name: str, shared: Shared, won: Shared | None = None) -> str:
        """Name the words that a description lacks: first the winner's words, then those of its own body."""
        if not shared.lacking:
            return f"The description of {name} has every word of the goal, among others: shorten it"
        theirs = won.description if won is not None else ()
        words = sorted(shared.lacking, key=lambda word: (word not in theirs, word in shared.nowhere))
        body = f" (its body has {_quoted(shared.body)})" if shared.body else ""
        return f"The description of {name} lacks {_quoted(words)}{body}: add what fits"

    def _wrongly_picked(self, miss: Outcome) -> str:
        """Explain why skills were selected for a goal that needs none."""
        picked = [self._picked(miss.goal.goal, selection) for selection in miss.selected[:_MOST_NAMES]]
        several = len(miss.selected) > 1
        change = "use narrower words in their descriptions" if several else "use narrower words in its description"
        return f"No skill should be selected, but {_joined(picked)} {'are' if several else 'is'}: {change}."

    def _picked(self, goal: str, picked: Selection) -> str:
        shared = self.words.shared(goal, picked.name)
        words, part = (shared.description, "description") if shared.description else (shared.body, "body")
        reason = f"for {_quoted(words)} in its {part}" if words else picked.reason
        return f"{picked.name} ({picked.score:.2f}, {reason})"


def _quoted(words: Sequence[str]) -> str:
    """Quote the first words for a sentence."""
    return _joined([f'"{word}"' for word in words[:_MOST_WORDS]])


def _joined(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _ordinal(place: int | None) -> str:
    number = place or 0
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return "first" if number == 1 else f"{number}{ending}"
