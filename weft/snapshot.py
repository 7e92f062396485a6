"""The skills of a run as fingerprints: what they were then, so that a later difference can be told."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from planner.events import SkillPrint
from skills.context import read_all

if TYPE_CHECKING:
    from skills.skill import Skill
    from weft.surroundings import Catalogue

# Beyond this many, only the files of skills that the prompt lists are read for their hash.
_ALL = 200


def fingerprints(catalogue: Catalogue) -> tuple[SkillPrint, ...]:
    """Each skill's name with the hash of its description and, apart, of its file."""
    few = len(catalogue.skills) <= _ALL
    return tuple(
        SkillPrint(
            skill.name,
            _hash(skill.description.encode("utf-8", "surrogatepass")),
            _body(skill) if few or f"<name>{skill.name}</name>" in catalogue.skill_listing else "",
        )
        for skill in catalogue.skills
    )


def _body(skill: Skill) -> str:
    try:
        return _hash(read_all(skill.path))
    except OSError:
        return ""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
