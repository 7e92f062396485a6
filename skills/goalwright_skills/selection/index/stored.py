"""What the segments in a folder have of a collection: the skills that are indexed, and those that are not yet."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.selection.index import division, postings
from goalwright_skills.selection.index.segments import IndexSegment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_skills.selection.index.postings import Postings
    from goalwright_skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Stored:
    """The segments with skills of a collection; its indexed skills in their order, and the others.

    It is `stale` if a skill could be indexed and is not.
    """

    segments: list[IndexSegment]
    indexed: list[Skill]
    missing: list[Skill]

    @property
    def stale(self) -> bool:
        """Whether indexing would find more; a file that may still be changing is left for later."""
        return any(map(_has_stamp, self.missing))


def load(folder: Path, skills: Sequence[Skill], encoder: str) -> Stored:
    """What a folder has of these skills, with vectors of that encoder."""
    found = Stored([], [], [])
    starts = division.read(folder)
    for start, group in zip(starts, division.divided(skills, starts), strict=True):
        data = _opened(division.segment_file(folder, start)) if group else None
        if data is None or data.encoder != encoder:
            found.missing.extend(group)
        elif data.digest == postings.digest(group, encoder) and postings.cacheable(group):
            found.segments.append(IndexSegment(data, range(data.count)))
            found.indexed.extend(group)
        else:
            _part(data, group, found)
    return found


def discard(folder: Path) -> None:
    """Remove the segments in a folder, which have turned out to be wrong."""
    for file in folder.glob("*.bin"):
        with contextlib.suppress(OSError):
            file.unlink()


def _opened(path: Path) -> Postings | None:
    """A segment, if it can be searched together with others."""
    data = postings.open_file(path)
    try:
        return data if data is not None and len(data.rows.sums) == data.vectors.dimensions else None
    except (ValueError, TypeError):
        return None


def is_current(data: Postings | None, group: Sequence[Skill], encoder: str) -> bool:
    """Whether a segment has what there is to index of these skills."""
    if data is None or data.encoder != encoder:
        return False
    if data.digest == postings.digest(group, encoder):
        return True
    found = Stored([], [], [])
    _part(data, group, found)
    return not found.stale and len(found.indexed) == data.count


def _part(data: Postings, group: Sequence[Skill], found: Stored) -> None:
    """Take from a segment the skills that have not changed since."""
    try:
        known = {(path, name, stamp): at for at, (name, path, stamp, *_) in enumerate(data.docs())}
    except (ValueError, TypeError):
        known = {}
    kept: dict[int, Skill] = {}
    for skill in group:
        at = known.get((skill.file, skill.name, skill.stamp)) if _has_stamp(skill) else None
        if at is None or at >= data.count:
            found.missing.append(skill)
        else:
            kept[at] = skill
    if kept:
        found.segments.append(IndexSegment(data, list(kept)))
        found.indexed.extend(kept.values())


def _has_stamp(skill: Skill) -> bool:
    return skill.stamp not in (NONE, RACY)
