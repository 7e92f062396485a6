"""Which skills must not be trained on: those that figures are measured with, and copies of them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RUN = 6
MOST_SHARED = 0.3


def plain(text: str) -> str:
    """Text in lower case, with one space for anything but letters and digits."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def digest(text: str) -> str:
    """What a name or a run of words is listed as: half of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shingles(description: str) -> set[str]:
    """The digests of all runs of six words of a description."""
    words = plain(description).split()
    return {digest(" ".join(words[at : at + RUN])) for at in range(len(words) - RUN + 1)}


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Names and runs of words, as digests."""

    names: frozenset[str]
    shingles: frozenset[str]

    @classmethod
    def read(cls, names: Path, shingles: Path) -> Exclusion:
        """Two files, with a digest a line."""
        return cls(frozenset(names.read_text().split()), frozenset(shingles.read_text().split()))

    def with_skills(self, skills: Iterable[tuple[str, str]]) -> Exclusion:
        """This and other skills, each a name and a description."""
        pool = list(skills)
        runs = {run for _, description in pool for run in shingles(description)}
        return Exclusion(self.names | {digest(plain(name)) for name, _ in pool}, self.shingles | runs)

    def reason(self, name: str, path: str, description: str) -> str:
        """Why a skill is excluded: `name` (its own or its folder's), `description`, or nothing."""
        if not self.names.isdisjoint((digest(plain(name)), digest(plain(PurePosixPath(path).parent.name)))):
            return "name"
        runs = shingles(description)
        return "description" if runs and len(runs & self.shingles) / len(runs) > MOST_SHARED else ""
