"""Fingerprints of a run's skills, so that a later replay can tell which have changed."""

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

# Beyond this many skills, a single run hashes only the files of those that its prompt lists.
_HASH_ALL = 1_000


class Fingerprints:
    """Each skill's name with the hashes of its description and its file, sorted by name.

    Of the same skills they are the same tuple, so that the goals of a batch share them, in memory and in the journal.
    """

    def __init__(self) -> None:
        self._last: tuple[frozenset[int], Collection[Skill], tuple[SkillPrint, ...]] | None = None

    def known(self, skills: Collection[Skill]) -> tuple[SkillPrint, ...] | None:
        """The fingerprints of these skills, if they were the last to be taken."""
        # By identity: skills are made again when their file changes, and those kept here keep their ids.
        return self._last[2] if self._last is not None and self._last[0] == _ids(skills) else None

    def take(self, skills: Collection[Skill], listing: str, *, shared: bool = False) -> tuple[SkillPrint, ...]:
        """Read and hash what is not known; of many skills, unless many goals share them, only those that are listed."""
        if (prints := self.known(skills)) is not None:
            return prints
        every = shared or len(skills) <= _HASH_ALL
        prints = tuple(
            SkillPrint(
                skill.name,
                _description(skill.description),
                _file(skill) if every or f"<name>{skill.name}</name>" in listing else "",
            )
            for skill in sorted(skills, key=attrgetter("name"))
        )
        if every and not any(_may_change(skill) for skill in skills):
            self._last = (_ids(skills), skills, prints)
        return prints


def _ids(skills: Collection[Skill]) -> frozenset[int]:
    return frozenset(map(id, skills))


def _may_change(skill: Skill) -> bool:
    """Whether its file could change without a new stamp."""
    return skill.stamp in (NONE, RACY)


def _file(skill: Skill) -> str:
    return _read(skill.file) if _may_change(skill) else _read_once(skill.file, skill.stamp)


@lru_cache(maxsize=20_000)
def _read_once(path: str, _stamp: int) -> str:
    """The hash of a file, read once for each stamp: the goals of a batch share it."""
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
