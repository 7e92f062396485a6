"""A large collection divided into segments: files that follow each other in path order, so that folders stay together.

Most of what relates skills, such as a hub and its children, then lies within one segment. Where segments begin is kept
from one time to the next, so that a change of a few skills changes the segments that they are in and no others.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

VERSION = 1
# How many skills a segment has to begin with, and at most.
TYPICAL, MOST = 2_000, 4_000
_FILE_LIMIT = 16_000_000


def divided(skills: Sequence[Skill], starts: Sequence[str]) -> list[list[Skill]]:
    """The skills of each segment, in their order; `starts` are the first paths of the segments, the first one empty."""
    groups: list[list[Skill]] = [[] for _ in starts]
    for skill in skills:
        groups[bisect_right(starts, skill.file) - 1].append(skill)
    return groups


def starts_for(skills: Sequence[Skill], old: Sequence[str]) -> list[str]:
    """Where the segments of these skills begin: as before, but large ones are split and small ones joined."""
    found: list[str] = []
    filled = 0
    for start, group in zip(old, divided(skills, old), strict=True):
        if not found or filled + len(group) > TYPICAL:
            found.append(start)
            filled = 0
        filled += len(group)
        if len(group) > MOST:
            files = sorted(skill.file for skill in group)
            pieces = -(-len(files) // TYPICAL)
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


def read(folder: Path) -> list[str]:
    """Where the segments in a folder begin; one beginning where nothing usable says so."""
    try:
        document = json.loads(untrusted_files.read(manifest(folder), _FILE_LIMIT))
        starts = document["starts"] if document["version"] == VERSION else [""]
        if starts[0] == "" and all(one < other for one, other in pairwise(starts)):
            return [str(start) for start in starts]
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        pass
    return [""]


def written(starts: Sequence[str]) -> bytes:
    """The manifest's content."""
    return json.dumps({"version": VERSION, "starts": list(starts)}).encode()
