"""Nested skills, inside another skill's folder: on a near tie the outer skill comes first.

    qdrant-scaling/SKILL.md                     "How do I scale Qdrant?"
    qdrant-scaling/tenant-scaling/SKILL.md      "Move the largest tenant to a shard of its own"

A folder `skills` in between starts a separate collection, whose skills are not nested.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_skills.skill import Skill

# A nested skill comes before the outer one (its hub) if its score is this much higher.
NEAR = 0.1
_BEFORE = 1e-6


def parents(skills: Sequence[Skill]) -> list[int | None]:
    """Return for each skill the number of the nearest skill whose folder contains it."""
    folders: dict[tuple[str, str], int] = {}
    for number, skill in enumerate(skills):
        if skill.kind == "context" and skill.source != "root":
            folders[skill.source, _folder(skill.file)] = number
    return [_parent(skill, folders) if skill.kind == "context" else None for skill in skills]


def hubs_first(scores: Mapping[int, float], parent: Callable[[int], int | None]) -> dict[int, float]:
    """Return the scores, each hub raised above its nested skills that are not clearly better."""
    raised = dict(scores)
    for child in sorted(scores, key=scores.__getitem__):
        hub = parent(child)
        if hub in raised and raised[child] - NEAR < raised[hub] <= raised[child]:
            raised[hub] = raised[child] + _BEFORE
    return raised


def _parent(skill: Skill, folders: dict[tuple[str, str], int]) -> int | None:
    folder = _folder(skill.file)
    while True:
        above = _folder(folder)
        if above == folder or above.rpartition("/")[2] == "skills":
            return None
        if (skill.source, above) in folders:
            return folders[skill.source, above]
        folder = above


def _folder(path: str) -> str:
    return path.replace(os.sep, "/").rpartition("/")[0]
