"""What `skills_scale` does in processes of its own: build an index of many skills, and answer goals with it."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bench.harness.processes import resident
from bench.selection_quality.corpus import Corpus, LabelledGoal, library, mixtures
from bench.selection_quality.ranks import PlainBM25
from weft_skills.selection.detector import Selection
from weft_skills.selection.encoder import Table
from weft_skills.selection.encoder.table import SHIPPED
from weft_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from weft_skills.skill import Skill

T = TypeVar("T")
SUBJECTS = ("weft, ranked", "BM25", "static encoder alone")
DEPTH = 30
_PLACES = {"first": 1, "five": 5, "thirty": DEPTH}
MOST_VECTORS = 10_000


@dataclass(frozen=True, slots=True)
class Job:
    """A subject, how many skills and goals there are, and where they come from."""

    subject: str
    size: int
    corpus: Path | None
    goals: int

    def pool(self) -> tuple[list[Skill], list[LabelledGoal], int]:
        """The skills, the goals, and how many of the skills are real; always the same ones."""
        if self.corpus is not None:
            found = Corpus.read(self.corpus)
            asking = [goal for goal in found.goals if goal.expected]
            pool, real = found.large(self.size, ()), len(found.everything)
        else:
            own = library()
            asking = [LabelledGoal("", " ".join(one.description.split()[:12]), (one.name,)) for one in own]
            pool, real = [*own, *mixtures(own, self.size - len(own))], len(own)
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
        if len(skills) > MOST_VECTORS:
            raise NotMeasured(f"not above {MOST_VECTORS:,} skills: it compares vectors one by one")
        self._table, self._skills = Table.shipped(), skills
        texts = (f"{skill.name.replace('-', ' ')} {skill.description}" for skill in skills)
        self._vectors = [self._table.vector(text) for text in texts]

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The nearest."""
        vector = self._table.vector(goal)
        scores = [sum(map(mul, vector, other)) for other in self._vectors]
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:limit]
        return [Selection(self._skills[at].name, scores[at], "") for at in best]


def opened(job: Job, pool: Sequence[Skill], cache: Path) -> Ranking:
    """The subject, with its index built, or loaded if it keeps one in `cache`."""
    if job.subject == SUBJECTS[0]:
        ranked = RankedDetector(cache)
        ranked.warm(pool)
        return ranked
    return PlainBM25(pool) if job.subject == SUBJECTS[1] else EncoderAlone(pool)


def build(job: Job, cache: Path) -> dict[str, Any]:
    """The CPU seconds and the memory that building an index takes, and its size on disk."""
    pool, _, real = job.pool()
    before = _peak()
    _, seconds = _spent(lambda: opened(job, pool, cache))
    disk = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 1e6
    kept = {"disk": disk} if disk else {}
    return {"built": seconds, "peak": _peak() - before, "real": real} | kept


def answer(job: Job, cache: Path) -> dict[str, Any]:
    """How well and how fast goals are answered with an index that is there, and the memory that it takes."""
    pool, goals, _ = job.pool()
    before = resident()
    finder, seconds = _spent(lambda: opened(job, pool, cache))
    finder.rank("warm up", pool, DEPTH)
    ranks, selecting, ranking = [], [], []
    for goal in goals:
        found, spent = _spent(partial(finder.rank, goal.text, pool, DEPTH))
        ranking.append(1000 * spent)
        names = [one.name for one in found]
        ranks.append(min((names.index(name) for name in goal.expected if name in names), default=DEPTH))
        if isinstance(finder, RankedDetector):
            selecting.append(1000 * _spent(partial(finder.detect, goal.text, pool))[1])
    within = {name: sum(rank < most for rank in ranks) / len(ranks) for name, most in _PLACES.items()}
    figures = within | {"rank": ranking, "memory": resident() - before}
    return figures | ({"select": selecting, "loaded": 1000 * seconds} if selecting else {})


def _spent(work: Callable[[], T]) -> tuple[T, float]:
    """What a call returns, and the CPU seconds that it takes."""
    began = time.thread_time()
    found = work()
    return found, time.thread_time() - began


def _peak() -> float:
    """The most memory that this process has had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
