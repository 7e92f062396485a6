"""The words of goals and skills: which of them a description has, and how rare they are among all descriptions."""

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
    """The words of a goal, as spelled there, by where a skill has them."""

    description: tuple[str, ...]
    body: tuple[str, ...]
    nowhere: tuple[str, ...]

    @property
    def lacking(self) -> tuple[str, ...]:
        """The words that the description does not have."""
        return (*self.body, *self.nowhere)


class Vocabulary:
    """The words of a pool of skills, read when they are needed."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self._short: dict[str, frozenset[str]] = {}
        self._bodies: dict[str, frozenset[str]] = {}

    def shared(self, goal: str, name: str) -> Shared:
        """Which words of a goal a skill has in its name and description, which only in its body, and which not."""
        short, body = self.description(name), self.body(name)
        places: tuple[list[str], list[str], list[str]] = ([], [], [])
        for term, word in self.of_goal(goal).items():
            places[0 if term in short else 1 if term in body else 2].append(word)
        return Shared(*map(tuple, places))

    def of_goal(self, goal: str) -> dict[str, str]:
        """The words of a goal: each term with its spelling, rarest first; what no description has comes last.

        Small numbers are left out: no description should have them.
        """
        words = {term: word for term, word in spelled(goal).items() if len(word) > 2 or not word.isdecimal()}
        return dict(sorted(words.items(), key=lambda item: self.frequency[item[0]] or len(self._skills) + 1))

    def description(self, name: str) -> frozenset[str]:
        """The terms of a skill's name and description, without what it says about others."""
        if name not in self._short:
            skill = self._skills[name]
            text = (spoken_name(skill), cut(skill.description).own, cut(when_to_use(skill)).own)
            self._short[name] = frozenset(terms(" ".join(text)))
        return self._short[name]

    def body(self, name: str) -> frozenset[str]:
        """The terms of a skill's body; an unreadable one has none."""
        if name not in self._bodies:
            try:
                text = frontmatter.decode(read_all(self._skills[name].path))[:_BODY_LIMIT]
            except OSError:
                text = ""
            self._bodies[name] = frozenset(terms(frontmatter.split(text).body))
        return self._bodies[name]

    @cached_property
    def frequency(self) -> Counter[str]:
        """How many descriptions have each term."""
        return Counter(term for name in self._skills for term in self.description(name))
