"""Fingerprints of a run's skills, by which a later replay finds changed skills."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from goalwright_planner.events import SkillPrint
from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.discovery.skill_file import read_all

if TYPE_CHECKING:
    from collections.abc import Collection

    from goalwright_skills.skill import Skill

# With more skills than this, a single run hashes only the files of the listed ones.
_HASH_ALL = 1_000


class Fingerprints:
    """Takes the hashes of skills' descriptions and files, sorted by name.

    Equal skills give the same tuple, so that the goals of a batch share it in memory and in the journal.
    """

    def __init__(self) -> None:
        self._last: tuple[frozenset[int], Collection[Skill], tuple[SkillPrint, ...]] | None = None

    def known(self, skills: Collection[Skill]) -> tuple[SkillPrint, ...] | None:
        """Return the fingerprints of these skills if they are the last ones taken."""
        # By identity: a changed file makes a new skill, and the skills kept here keep their ids.
        return self._last[2] if self._last is not None and self._last[0] == _ids(skills) else None

    def take(self, skills: Collection[Skill], listing: str, *, shared: bool = False) -> tuple[SkillPrint, ...]:
        """Hash these skills; of many skills that are not `shared` by many goals, only the files of the listed ones."""
        if (prints := self.known(skills)) is not None:
            return prints
        hash_all = shared or len(skills) <= _HASH_ALL
        prints = tuple(
            SkillPrint(
                skill.name,
                _description(skill.description),
                _file(skill) if hash_all or f"<name>{skill.name}</name>" in listing else "",
            )
            for skill in sorted(skills, key=attrgetter("name"))
        )
        if hash_all and not any(_may_change(skill) for skill in skills):
            self._last = (_ids(skills), skills, prints)
        return prints


def _ids(skills: Collection[Skill]) -> frozenset[int]:
    return frozenset(map(id, skills))


def _may_change(skill: Skill) -> bool:
    """Whether the file could change without a new stamp."""
    return skill.stamp in (NONE, RACY)


def _file(skill: Skill) -> str:
    return _read(skill.file) if _may_change(skill) else _read_once(skill.file, skill.stamp)


@lru_cache(maxsize=20_000)
def _read_once(path: str, _stamp: int) -> str:
    """Hash a file once per stamp; the goals of a batch share the hash."""
    return _read(path)


def _read(path: str) -> str:
    try:
        return _hash(read_all(path))
    except OSError:
        return ""


@lru_cache(maxsize=20_000)
def _description(text: str) -> str:
    return _hash(text.encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
