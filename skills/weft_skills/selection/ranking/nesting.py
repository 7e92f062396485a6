"""Skills inside another skill's folder: they yield to it, unless their own words clearly fit better.

    qdrant-scaling/SKILL.md                     "How do I scale Qdrant?"
    qdrant-scaling/tenant-scaling/SKILL.md      selected only for goals about tenants

A folder `skills` in between begins a collection of its own, whose skills are nobody's parts.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft_skills.selection.ranking.candidate import Candidate
    from weft_skills.skill import Skill

# A nested skill stands before its parent if it scores this many times as high.
CLEARLY = 2.0
_BEFORE = 1.0001


def parents(skills: Sequence[Skill]) -> list[int | None]:
    """For each skill the number of the nearest one whose folder contains it."""
    folders: dict[tuple[str, str], int] = {}
    for at, skill in enumerate(skills):
        if skill.kind == "context" and skill.source != "root":
            folders[skill.source, _folder(skill.file)] = at
    return [_parent(skill, folders) if skill.kind == "context" else None for skill in skills]


def lead(candidates: Sequence[Candidate], parent: Callable[[int], int | None]) -> list[Candidate]:
    """The candidates, each parent raised to the best of the nested skills that yield to it, and just before it."""
    by_number = {candidate.document: candidate for candidate in candidates}
    # The best first: a parent that was raised may in turn raise its own.
    for child in sorted(candidates, key=lambda candidate: candidate.score, reverse=True):
        above = _above(child, by_number, parent)
        while above is not None and child.score <= CLEARLY * above.score:
            if above.score <= child.score:
                _raise(above, child)
            child, above = above, _above(above, by_number, parent)
    return list(by_number.values())


def _above(child: Candidate, known: Mapping[int, Candidate], parent: Callable[[int], int | None]) -> Candidate | None:
    number = parent(child.document)
    return known.get(number) if number is not None else None


def _raise(parent: Candidate, child: Candidate) -> None:
    """Let a parent stand for what its nested skill has."""
    parent.score = child.score * _BEFORE
    parent.words = max(parent.words, child.words)
    parent.nested = child.document
    parent.adds = {
        term: max(parent.adds.get(term, 0.0), child.adds.get(term, 0.0)) for term in {**parent.adds, **child.adds}
    }


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
