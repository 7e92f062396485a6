"""A large collection in segment files: the skills that are indexed, and a shortlist of those that are not yet.

Segments follow each other in path order, so that related skills, such as a hub and its children, are in one segment.
The starts of the segments are kept, so that a change of a few skills changes only their segments.
"""

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
    """The segments of a collection, the indexed skills in their order, and the other skills."""

    segments: list[IndexSegment]
    indexed: list[Skill]
    missing: list[Skill]

    @property
    def stale(self) -> bool:
        """Whether indexing would add skills; files that may still be changing are left for later."""
        return any(map(_has_stamp, self.missing))


def load(folder: Path, skills: Sequence[Skill], encoder: str) -> Stored:
    """Load the segments of these skills in a folder, with vectors of that encoder."""
    collection = Stored([], [], [])
    starts = read_starts(folder)
    for start, group in zip(starts, split_by_start(skills, starts), strict=True):
        data = _opened(segment_file(folder, start)) if group else None
        if data is None or data.encoder != encoder:
            collection.missing.extend(group)
        elif data.digest == postings.digest(group, encoder) and postings.cacheable(group):
            collection.segments.append(IndexSegment(data, range(data.count)))
            collection.indexed.extend(group)
        else:
            _add_unchanged(data, group, collection)
    return collection


def discard(folder: Path) -> None:
    """Remove the corrupt segments in a folder."""
    for file in folder.glob("*.bin"):
        with contextlib.suppress(OSError):
            file.unlink()


def _opened(path: Path) -> Postings | None:
    """Open a segment, if it can be searched together with others."""
    data = postings.open_file(path)
    try:
        return data if data is not None and len(data.rows.sums) == data.vectors.dimensions else None
    except (ValueError, TypeError):
        return None


def is_current(data: Postings | None, group: Sequence[Skill], encoder: str) -> bool:
    """Whether a segment is up to date for these skills."""
    if data is None or data.encoder != encoder:
        return False
    if data.digest == postings.digest(group, encoder):
        return True
    collection = Stored([], [], [])
    _add_unchanged(data, group, collection)
    return not collection.stale and len(collection.indexed) == data.count


def _add_unchanged(data: Postings, group: Sequence[Skill], collection: Stored) -> None:
    """Add a segment's unchanged skills to a collection."""
    try:
        known = {(path, name, stamp): local for local, (name, path, stamp, *_) in enumerate(data.docs())}
    except (ValueError, TypeError):
        known = {}
    kept: dict[int, Skill] = {}
    for skill in group:
        local = known.get((skill.file, skill.name, skill.stamp)) if _has_stamp(skill) else None
        if local is None or local >= data.count:
            collection.missing.append(skill)
        else:
            kept[local] = skill
    if kept:
        collection.segments.append(IndexSegment(data, list(kept)))
        collection.indexed.extend(kept.values())


def _has_stamp(skill: Skill) -> bool:
    return skill.stamp not in (NONE, RACY)


VERSION = 1
# The number of skills in a new segment, and the largest number.
SEGMENT_SKILLS, MAX_SEGMENT_SKILLS = 2_000, 4_000
_FILE_LIMIT = 16_000_000


def split_by_start(skills: Sequence[Skill], starts: Sequence[str]) -> list[list[Skill]]:
    """Return the skills of each segment; `starts` are the first paths of the segments, the first one empty."""
    groups: list[list[Skill]] = [[] for _ in starts]
    for skill in skills:
        groups[bisect_right(starts, skill.file) - 1].append(skill)
    return groups


def segment_starts(skills: Sequence[Skill], old: Sequence[str]) -> list[str]:
    """Return the starts of the segments of these skills: large old segments are split and small ones joined."""
    starts: list[str] = []
    filled = 0
    for start, group in zip(old, split_by_start(skills, old), strict=True):
        if not starts or filled + len(group) > SEGMENT_SKILLS:
            starts.append(start)
            filled = 0
        filled += len(group)
        if len(group) > MAX_SEGMENT_SKILLS:
            files = sorted(skill.file for skill in group)
            pieces = -(-len(files) // SEGMENT_SKILLS)
            cuts = dict.fromkeys(files[number * len(files) // pieces] for number in range(1, pieces))
            starts += [cut for cut in cuts if cut > start]
            filled = len(files) // pieces
    return starts


def segment_file(folder: Path, start: str) -> Path:
    """Return the file of the segment that starts with a path."""
    return folder / f"{hashlib.sha256(start.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.bin"


def manifest(folder: Path) -> Path:
    """Return the file with the starts of the segments."""
    return folder / "segments.json"


def read_starts(folder: Path) -> list[str]:
    """Read the starts of the segments in a folder; a single segment if the manifest is missing or corrupt."""
    try:
        document = json.loads(untrusted_files.read(manifest(folder), _FILE_LIMIT))
        starts = document["starts"] if document["version"] == VERSION else [""]
        if starts[0] == "" and all(start < following for start, following in pairwise(starts)):
            return [str(start) for start in starts]
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        pass
    return [""]


def manifest_bytes(starts: Sequence[str]) -> bytes:
    """Encode the manifest."""
    return json.dumps({"version": VERSION, "starts": list(starts)}).encode()


# The number of skills in a shortlist, and of words that are searched for.
SHORTLISTED, SHORTLIST_WORDS = 250, 24


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The skills that may fit, and the number of others that have each term of the goal."""

    skills: list[Skill]
    others: Unseen


class Described:
    """Searches skills by name and description, without reading files.

    Tens of thousands take a few tenths of a second: a word matches if its stem is part of the text.
    """

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills
        self._texts = [
            f"{skill.name} {skill.description} {when_to_use(skill) if skill.extra else ''}".lower() for skill in skills
        ]

    def shortlist(self, words: Mapping[str, str]) -> Shortlist:
        """Return the skills with most of the words, given by term with their spelling; rare words count more."""
        scores: dict[int, float] = {}
        having: dict[str, list[int]] = {}
        for term, spelling in list(words.items())[:SHORTLIST_WORDS]:
            stem = _stem(term, spelling)
            having[term] = [number for number, text in enumerate(self._texts) if stem in text]
            rarity = math.log(1 + len(self._texts) / (1 + len(having[term])))
            for number in having[term]:
                scores[number] = scores.get(number, 0.0) + rarity
        best = set(nlargest(SHORTLISTED, scores, key=lambda number: (scores[number], -number)))
        counts = {term: sum(number not in best for number in numbers) for term, numbers in having.items()}
        return Shortlist(
            [self._skills[number] for number in sorted(best)], Unseen(len(self._skills) - len(best), counts)
        )


def _stem(term: str, spelling: str) -> str:
    """Return the common prefix of a term and its spelling: the stem of queries is queri, and a text may have query."""
    pairs = enumerate(zip(term, spelling, strict=False))
    length = next((index for index, (one, other) in pairs if one != other), len(term))
    return term[:length].removesuffix("i") or spelling
