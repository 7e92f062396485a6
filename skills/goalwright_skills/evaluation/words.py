"""The words that goals and skills share, and their rarity among all descriptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.format import frontmatter
from goalwright_skills.selection.index.descriptions import cut, spoken_name, when_to_use
from goalwright_skills.selection.query.terms import spelled, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.skill import Skill

_BODY_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class Shared:
    """The words of a goal, by the part of a skill that has them."""

    description: tuple[str, ...]
    body: tuple[str, ...]
    nowhere: tuple[str, ...]

    @property
    def lacking(self) -> tuple[str, ...]:
        """The words that the description lacks."""
        return (*self.body, *self.nowhere)


class Vocabulary:
    """The words of a pool of skills, read on demand."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self._short: dict[str, frozenset[str]] = {}
        self._bodies: dict[str, frozenset[str]] = {}

    def shared(self, goal: str, name: str) -> Shared:
        """Divide the words of a goal into those of a skill's description, those only in its body, and others."""
        short, body = self.description(name), self.body(name)
        places: tuple[list[str], list[str], list[str]] = ([], [], [])
        for term, word in self.of_goal(goal).items():
            places[0 if term in short else 1 if term in body else 2].append(word)
        return Shared(*map(tuple, places))

    def of_goal(self, goal: str) -> dict[str, str]:
        """Return the terms of a goal with their spelling, rarest first; terms that no description has come last.

        Small numbers are left out, since no description should contain them.
        """
        words = {term: word for term, word in spelled(goal).items() if len(word) > 2 or not word.isdecimal()}
        return dict(sorted(words.items(), key=lambda item: self.frequency[item[0]] or len(self._skills) + 1))

    def description(self, name: str) -> frozenset[str]:
        """Return the terms of a skill's name and description, without clauses about other skills."""
        if name not in self._short:
            skill = self._skills[name]
            text = (spoken_name(skill), cut(skill.description).own, cut(when_to_use(skill)).own)
            self._short[name] = frozenset(terms(" ".join(text)))
        return self._short[name]

    def body(self, name: str) -> frozenset[str]:
        """Return the terms of a skill's body; empty if it is unreadable."""
        if name not in self._bodies:
            try:
                text = frontmatter.decode(read_all(self._skills[name].path))[:_BODY_LIMIT]
            except OSError:
                text = ""
            self._bodies[name] = frozenset(terms(frontmatter.split(text).body))
        return self._bodies[name]

    @cached_property
    def frequency(self) -> Counter[str]:
        """The number of descriptions that have each term."""
        return Counter(term for name in self._skills for term in self.description(name))
