"""What the segments in a folder have of a collection: the skills that are indexed, and those that are not yet."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from bisect import bisect_right
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.selection.index import postings
from goalwright_skills.selection.index.descriptions import when_to_use
from goalwright_skills.selection.index.segments import IndexSegment, Unseen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
    starts = read_starts(folder)
    for start, group in zip(starts, split_by_start(skills, starts), strict=True):
        data = _opened(segment_file(folder, start)) if group else None
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


VERSION = 1
# How many skills a segment has to begin with, and at most.
SEGMENT_SKILLS, MAX_SEGMENT_SKILLS = 2_000, 4_000
_FILE_LIMIT = 16_000_000


def split_by_start(skills: Sequence[Skill], starts: Sequence[str]) -> list[list[Skill]]:
    """The skills of each segment, in their order; `starts` are the first paths of the segments, the first one empty."""
    groups: list[list[Skill]] = [[] for _ in starts]
    for skill in skills:
        groups[bisect_right(starts, skill.file) - 1].append(skill)
    return groups


def segment_starts(skills: Sequence[Skill], old: Sequence[str]) -> list[str]:
    """Where the segments of these skills begin: as before, but large ones are split and small ones joined."""
    found: list[str] = []
    filled = 0
    for start, group in zip(old, split_by_start(skills, old), strict=True):
        if not found or filled + len(group) > SEGMENT_SKILLS:
            found.append(start)
            filled = 0
        filled += len(group)
        if len(group) > MAX_SEGMENT_SKILLS:
            files = sorted(skill.file for skill in group)
            pieces = -(-len(files) // SEGMENT_SKILLS)
            cuts = dict.fromkeys(files[number * len(files) // pieces] for number in range(1, pieces))
            found += [cut for cut in cuts if cut > start]
            filled = len(files) // pieces
    return found


def segment_file(folder: Path, start: str) -> Path:
    """The file of the segment that begins with a path."""
    return folder / f"{hashlib.sha256(start.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.bin"


def manifest(folder: Path) -> Path:
    """The file that says where segments begin."""
    return folder / "segments.json"


def read_starts(folder: Path) -> list[str]:
    """Where the segments in a folder begin; one beginning where nothing usable says so."""
    try:
        document = json.loads(untrusted_files.read(manifest(folder), _FILE_LIMIT))
        starts = document["starts"] if document["version"] == VERSION else [""]
        if starts[0] == "" and all(one < other for one, other in pairwise(starts)):
            return [str(start) for start in starts]
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        pass
    return [""]


def manifest_bytes(starts: Sequence[str]) -> bytes:
    """The manifest's content."""
    return json.dumps({"version": VERSION, "starts": list(starts)}).encode()


# How many skills are taken, and how many words are looked for.
SHORTLISTED, SHORTLIST_WORDS = 250, 24


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The skills taken, and how many of the others have which term of the goal."""

    skills: list[Skill]
    others: Unseen


class Described:
    """Skills by what is known of them before any file is read."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills
        self._texts = [
            f"{one.name} {one.description} {when_to_use(one) if one.extra else ''}".lower() for one in skills
        ]

    def shortlist(self, words: Mapping[str, str]) -> Shortlist:
        """The skills that say most of the words, given as terms with their spelling, rare ones counting more."""
        scores: dict[int, float] = {}
        having: dict[str, list[int]] = {}
        for term, spelling in list(words.items())[:SHORTLIST_WORDS]:
            stem = _stem(term, spelling)
            having[term] = [at for at, text in enumerate(self._texts) if stem in text]
            rarity = math.log(1 + len(self._texts) / (1 + len(having[term])))
            for at in having[term]:
                scores[at] = scores.get(at, 0.0) + rarity
        taken = set(nlargest(SHORTLISTED, scores, key=lambda at: (scores[at], -at)))
        counts = {term: sum(at not in taken for at in there) for term, there in having.items()}
        return Shortlist([self._skills[at] for at in sorted(taken)], Unseen(len(self._skills) - len(taken), counts))


def _stem(term: str, spelling: str) -> str:
    """What a term and its spelling begin with: the stem of queries is queri, and a text may have query."""
    same = next((at for at, (one, other) in enumerate(zip(term, spelling, strict=False)) if one != other), len(term))
    return term[:same].removesuffix("i") or spelling
