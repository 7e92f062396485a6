"""What `skills_scale` does in processes of its own: build an index of many skills, and answer goals with it."""

from __future__ import annotations

import math
import resource
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bench.harness.processes import resident
from bench.selection_quality.corpus import Corpus, LabelledGoal, library, neighbours
from bench.selection_quality.ranks import PlainBM25
from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.encoder.table import SHIPPED
from goalwright_skills.selection.index import background, vectors
from goalwright_skills.selection.index.vectors import Vectors, encoded
from goalwright_skills.selection.pools import AT_ONCE
from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

T = TypeVar("T")
SUBJECTS = ("goalwright, ranked", "BM25", "static encoder alone")
DEPTH = 30
_PLACES = {"first": 1, "five": 5, "thirty": DEPTH}


@dataclass(frozen=True, slots=True)
class Job:
    """A subject, how many skills and goals there are, where they come from, and a folder for generated skills."""

    subject: str
    size: int
    corpus: Path | None
    goals: int
    folder: Path

    def pool(self) -> tuple[list[Skill], list[LabelledGoal], int]:
        """The skills, the goals, and how many of the skills are real; always the same ones."""
        if self.corpus is not None:
            found = Corpus.read(self.corpus)
            asking = [goal for goal in found.goals if goal.expected]
            pool, real = found.large(self.size, (), self.folder), len(found.everything)
        else:
            own = library()
            asking = [LabelledGoal("", " ".join(one.description.split()[:12]), (one.name,)) for one in own]
            pool, real = [*own, *neighbours(own, self.size - len(own), self.folder)], len(own)
        return pool, asking[:: max(1, len(asking) // self.goals)][: self.goals], min(real, self.size)


class Ranking(Protocol):
    """What every subject can do."""

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best skills."""


class NotMeasured(Exception):
    """Why a subject has no figures."""


class EncoderAlone:
    """Ranks by the cosine of the vectors of goal, and of name and description."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        if not SHIPPED.is_file():
            raise NotMeasured("no encoder here")
        self._table, self._skills = Table.shipped(), skills
        rows = [encoded(skill, "", self._table) for skill in skills]
        columns = vectors.columns(rows, self._table.dimensions)
        self._vectors = Vectors(memoryview(b"".join(rows)), memoryview(columns), len(rows))

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The nearest."""
        cosines = self._vectors.cosines(self._table.vector(goal))
        best = cosines.nearest(limit) if cosines is not None else []
        return [Selection(self._skills[at].name, cosines[at], "") for at in best] if cosines is not None else []


def opened(job: Job, pool: Sequence[Skill], cache: Path) -> Ranking:
    """The subject, with its index built, or loaded if it keeps one in `cache`."""
    if job.subject == SUBJECTS[0]:
        ranked = RankedDetector(cache)
        ranked.warm(pool)
        return ranked
    return PlainBM25(pool) if job.subject == SUBJECTS[1] else EncoderAlone(pool)


def build(job: Job, cache: Path) -> dict[str, Any]:
    """The CPU seconds and the memory that building an index takes, and its size on disk."""
    pool, goals, real = job.pool()
    before, cold = _peak(), {}
    if job.subject == SUBJECTS[0] and len(pool) > AT_ONCE:
        cold = {"cold": _without_index(pool, goals, cache)}
        _, seconds = _spent(lambda: background.index(cache / "segments", math.inf))
    else:
        _, seconds = _spent(lambda: opened(job, pool, cache))
    disk = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 1e6
    kept = {"disk": disk} if disk else {}
    return {"built": seconds, "peak": _peak() - before, "real": real} | kept | cold


def _without_index(pool: Sequence[Skill], goals: Sequence[LabelledGoal], cache: Path) -> float:
    """The CPU seconds of the first answer where nothing is indexed; with the lock taken, nobody begins to."""
    folder = cache / "segments"
    folder.mkdir(parents=True)
    with background.held(folder):
        return _spent(lambda: RankedDetector(cache).detect(goals[0].text, pool))[1]


def answer(job: Job, cache: Path) -> dict[str, Any]:
    """How well and how fast goals are answered with an index that is there, and the memory that it takes."""
    pool, goals, _ = job.pool()
    before = resident()
    finder, seconds = _spent(lambda: opened(job, pool, cache))
    finder.rank("warm up", pool, DEPTH)
    ranks, selecting, ranking = [], [], []
    for goal in goals:
        selected = _spent(partial(finder.detect, goal.text, pool))[1] if isinstance(finder, RankedDetector) else 0.0
        found, spent = _spent(partial(finder.rank, goal.text, pool, DEPTH))
        selecting.append(1000 * selected)
        ranking.append(1000 * (selected + spent))
        names = [one.name for one in found]
        ranks.append(min((names.index(name) for name in goal.expected if name in names), default=DEPTH))
    within = {name: sum(rank < most for rank in ranks) / len(ranks) for name, most in _PLACES.items()}
    figures = within | {"rank": ranking, "memory": resident() - before}
    return figures | ({"select": selecting, "loaded": 1000 * seconds} if any(selecting) else {})


def _spent(work: Callable[[], T]) -> tuple[T, float]:
    """What a call returns, and the CPU seconds that it takes."""
    began = time.thread_time()
    found = work()
    return found, time.thread_time() - began


def _peak() -> float:
    """The most memory that this process has had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
