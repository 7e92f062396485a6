"""The child processes of `skills_scale`: build an index of many skills, then answer goals with it."""

from __future__ import annotations

import heapq
import json
import math
import random
import resource
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bench.harness.processes import resident_memory
from goalwright_skills.discovery.locations import LIBRARY, Location
from goalwright_skills.discovery.scan import scan
from goalwright_skills.discovery.skill_file import context, read_all
from goalwright_skills.format import frontmatter
from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.index import background
from goalwright_skills.selection.pools import AT_ONCE
from goalwright_skills.selection.query.terms import terms
from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

T = TypeVar("T")
GOALWRIGHT, BM25 = "goalwright, ranked", "BM25"
SUBJECTS = (GOALWRIGHT, BM25)
LISTED = 30
BODY_CHARACTERS = 2_000
_RANKS = {"first": 1, "five": 5, "thirty": LISTED}


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal and the skills that it needs."""

    text: str
    expected: Sequence[str]


@dataclass(frozen=True, slots=True)
class Job:
    """A subject, the number of skills and goals, their source, and a folder for generated skills."""

    subject: str
    size: int
    corpus: Path | None
    goals: int
    folder: Path

    def pool(self) -> tuple[list[Skill], list[Goal], int]:
        """Return the skills, the goals and the number of real skills; the same ones every time."""
        if self.corpus is not None:
            skills, goals = read_skills(self.corpus / "skills"), read_goals(self.corpus / "queries.jsonl")
        else:
            skills = read_skills(LIBRARY)
            goals = [Goal(" ".join(skill.description.split()[:12]), [skill.name]) for skill in skills]
        expected = {name for goal in goals for name in goal.expected}
        skills.sort(key=lambda skill: skill.name not in expected)
        pool = [*skills[: self.size], *generated(skills, self.size - len(skills), self.folder)]
        return pool, goals[:: max(1, len(goals) // self.goals)][: self.goals], min(len(skills), self.size)


def read_skills(folder: Path) -> list[Skill]:
    """Read the active skills below a folder, one of each name."""
    pools = [path for path in sorted(folder.iterdir()) if path.is_dir() and not (path / "SKILL.md").is_file()]
    found: dict[str, Skill] = {}
    for root in pools or [folder]:
        location = Location(root, "project")
        for file in scan([location], ["SKILL.md"]).files:
            found.update((skill.name, skill) for skill in context(file, location).skills if skill.state == "active")
    return list(found.values())


def read_goals(file: Path) -> list[Goal]:
    """Read the goals of a corpus that need a skill."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    expected = [[row["expected"]] if isinstance(row["expected"], str) else row["expected"] for row in rows]
    return [Goal(row["goal"], names) for row, names in zip(rows, expected, strict=True) if names]


def generated(skills: Sequence[Skill], count: int, folder: Path) -> list[Skill]:
    """Write `count` skills that mix two descriptions each, or reuse those written before."""
    rng, made = random.Random(2), []
    for number in range(count):
        first, second = rng.sample(skills, 2)
        words, others = first.description.split(), second.description.split()
        description = " ".join([*words[: len(words) // 2], *others[len(others) // 2 :]])
        name = f"{first.name[:24]}-{second.name[:24]}-{number}"
        path = folder / name / "SKILL.md"
        if not path.exists():
            body = frontmatter.split(frontmatter.decode(read_all(first.path))).body[:BODY_CHARACTERS]
            path.parent.mkdir(parents=True)
            path.write_text(f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n{body}\n", "utf-8")
        made.append(replace(first, name=name, description=description, stamp=number + 1, file=str(path)))
    return made


class Ranking(Protocol):
    """A ranking of skills for a goal."""

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the best skills."""


class PlainBM25:
    """BM25 over stemmed names and descriptions, with the usual constants."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills
        texts = [Counter(terms(f"{skill.name.replace('-', ' ')} {skill.description}")) for skill in skills]
        lengths = [sum(text.values()) for text in texts]
        mean = sum(lengths) / len(lengths)
        self._norms = [1.2 * (0.25 + 0.75 * length / mean) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for index, text in enumerate(texts):
            for term, count in text.items():
                self._postings[term].append((index, count))

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the best skills."""
        scores: dict[int, float] = defaultdict(float)
        for term in set(terms(goal)):
            rows = self._postings.get(term, [])
            idf = math.log(1 + (len(self._skills) - len(rows) + 0.5) / (len(rows) + 0.5))
            for index, count in rows:
                scores[index] += idf * 2.2 * count / (count + self._norms[index])
        best = heapq.nlargest(limit, scores.items(), key=itemgetter(1))
        return [Selection(self._skills[index].name, score, "") for index, score in best]


def open_ranking(job: Job, pool: Sequence[Skill], cache: Path) -> Ranking:
    """Open the subject; build its index, or load it from `cache`."""
    if job.subject == BM25:
        return PlainBM25(pool)
    detector = RankedDetector(cache)
    detector.warm(pool)
    return detector


def build(job: Job, cache: Path) -> dict[str, Any]:
    """Build an index; return the CPU seconds, the memory and the size on disk."""
    pool, goals, real = job.pool()
    before, cold = _peak_memory(), {}
    if job.subject == GOALWRIGHT and len(pool) > AT_ONCE:
        cold = {"cold": _answer_without_index(pool, goals, cache)}
        _, seconds = _timed(lambda: background.index(cache / "segments", math.inf))
    else:
        _, seconds = _timed(lambda: open_ranking(job, pool, cache))
    disk = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 1e6
    return {"built": seconds, "peak": _peak_memory() - before, "real": real, **cold} | ({"disk": disk} if disk else {})


def _answer_without_index(pool: Sequence[Skill], goals: Sequence[Goal], cache: Path) -> float:
    """The CPU seconds of the first answer without an index; holding the lock keeps others from building one."""
    folder = cache / "segments"
    folder.mkdir(parents=True)
    with background.held(folder):
        return _timed(lambda: RankedDetector(cache).detect(goals[0].text, pool))[1]


def answer(job: Job, cache: Path) -> dict[str, Any]:
    """Answer goals with an existing index; return quality, CPU times and memory."""
    pool, goals, _ = job.pool()
    before = resident_memory()
    ranking, seconds = _timed(lambda: open_ranking(job, pool, cache))
    ranking.rank("warm up", pool, LISTED)
    ranks, select_times, rank_times = [], [], []
    for goal in goals:
        select = 0.0
        if isinstance(ranking, RankedDetector):
            select = _timed(partial(ranking.detect, goal.text, pool))[1]
        selections, rank = _timed(partial(ranking.rank, goal.text, pool, LISTED))
        select_times.append(1000 * select)
        rank_times.append(1000 * (select + rank))
        names = [selection.name for selection in selections]
        ranks.append(min((names.index(name) for name in goal.expected if name in names), default=LISTED))
    within = {name: sum(rank < limit for rank in ranks) / len(ranks) for name, limit in _RANKS.items()}
    figures = within | {"rank": rank_times, "memory": resident_memory() - before}
    return figures | ({"select": select_times, "loaded": 1000 * seconds} if any(select_times) else {})


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call and the CPU seconds it took."""
    started = time.thread_time()
    result = work()
    return result, time.thread_time() - started


def _peak_memory() -> float:
    """The peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
