"""Fingerprints of a run's skills, so that a later replay can tell which have changed."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from planner.events import SkillPrint
from skills.discovery.file_stamp import NONE, RACY
from skills.discovery.skill_file import read_all

if TYPE_CHECKING:
    from skills.skill import Skill
    from weft.workspace.workspace import Catalogue

# Beyond this many skills, only the files of those that the prompt lists are hashed.
_HASH_ALL = 1_000


def fingerprints(catalogue: Catalogue) -> tuple[SkillPrint, ...]:
    """Each skill's name with the hashes of its description and its file, sorted by name."""
    few = len(catalogue.skills) <= _HASH_ALL
    return tuple(
        SkillPrint(
            skill.name,
            _description(skill.description),
            _file(skill) if few or f"<name>{skill.name}</name>" in catalogue.skill_listing else "",
        )
        for skill in sorted(catalogue.skills, key=attrgetter("name"))
    )


def _file(skill: Skill) -> str:
    return _read(skill.file) if skill.stamp in (NONE, RACY) else _read_once(skill.file, skill.stamp)


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
