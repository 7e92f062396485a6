"""Selecting skills: how often a goal finds its skill, and how long that takes.

Floor: a goal's own skill is the first one (1.0), in no time. Peers: BM25 (rank-bm25) and TF-IDF (scikit-learn) over
names and descriptions, and MiniLM's vectors of them.

    python -m bench.selection CORPUS [DETECTOR]

CORPUS has `skills/<pool>/**/SKILL.md` and `queries.jsonl`, one goal a line: `{"id", "pool", "goal", "expected"}`;
`expected` is null if no skill should be selected. Without a corpus, only the time is measured, on the skills that goalwright
ships.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.peers import MissingPeer
from bench.harness.result import Benchmark, Cell, Column, Findings, Options, Table, cells
from goalwright_skills.discovery.locations import Location
from goalwright_skills.discovery.scan import scan
from goalwright_skills.discovery.skill_file import context
from goalwright_skills.selection.detectors import DEFAULT, detector, top
from goalwright_skills.selection.pools import AT_ONCE
from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.skill import Skill

COLUMNS = (Column("R@1"), Column("R@5"), Column("MRR"), Column("R@1, all pools as one"), Column("a goal", "ms"))
DETECTORS = ("ranked", "keyword")
# Each peer's program, its environment, and its rows.
PEERS = {"words": ("BM25", "TF-IDF"), "minilm": ("MiniLM",)}
# MiniLM in numpy takes minutes for the vectors of all skills.
LIMIT = 900.0
MOST_GOALS = 500


@dataclass(frozen=True, slots=True)
class Corpus:
    """Skills by pool, and the goals that expect one of them; in `whole` all pools are one."""

    pools: dict[str, list[Skill]]
    goals: list[dict[str, Any]]
    nothing: list[dict[str, Any]]

    @classmethod
    def read(cls, folder: Path, most: int | None) -> Corpus:
        """The corpus in a folder, with at most so many goals."""
        text = (folder / "queries.jsonl").read_text(encoding="utf-8")
        goals = [json.loads(line) for line in text.splitlines()]
        pools = {place.name: pool_of(place) for place in sorted((folder / "skills").iterdir()) if place.is_dir()}
        asking = [goal for goal in goals if goal["expected"] is not None]
        step = max(1, len(asking) // most) if most else 1
        return cls(pools, asking[::step], [goal for goal in goals if goal["expected"] is None])

    @property
    def whole(self) -> list[Skill]:
        """All skills, one for each name."""
        return list({skill.name: skill for pool in self.pools.values() for skill in pool}.values())


def pool_of(folder: Path) -> list[Skill]:
    """The skills of one pool, one for each name."""
    place = Location(folder, "project")
    found = [skill for file in scan([place], ["SKILL.md"]).files for skill in context(file, place).skills]
    return list({skill.name: skill for skill in found if skill.state == "active"}.values())


def places(name: str, corpus: Corpus) -> list[dict[str, Any]]:
    """For each goal, the rank of its skill in its pool and among all skills (0: not in the first ten), and seconds."""
    finders = {pool: detector(name) for pool in {goal["pool"] for goal in corpus.goals}}
    all_, whole = detector(name), corpus.whole
    top(all_, "warm up", whole, 10)
    found = []
    for goal in corpus.goals:
        ranked = top(finders[goal["pool"]], goal["goal"], corpus.pools[goal["pool"]], 10)
        began = time.perf_counter()
        among = top(all_, goal["goal"], whole, 10)
        seconds = time.perf_counter() - began
        place, place_of_all = (_place(goal["expected"], [one.name for one in names]) for names in (ranked, among))
        found.append({"pool": goal["pool"], "place": place, "whole": place_of_all, "seconds": seconds})
    return found


def _place(expected: str, names: list[str]) -> int:
    return names.index(expected) + 1 if expected in names else 0


def row(found: Sequence[dict[str, Any]]) -> tuple[Cell, ...]:
    """R@1, R@5 and MRR as the mean over the pools, R@1 among all skills, and milliseconds for a goal."""
    pools = {line["pool"] for line in found}
    each = [_figures([line["place"] for line in found if line["pool"] == pool]) for pool in pools]
    means = [sum(column) / len(each) for column in zip(*each, strict=True)]
    whole = sum(line["whole"] == 1 for line in found) / len(found)
    middle = sorted(line["seconds"] for line in found)[len(found) // 2]
    return cells(*means, whole, 1000 * middle)


def _figures(ranks: list[int]) -> tuple[float, float, float]:
    count = len(ranks)
    first, five = sum(place == 1 for place in ranks), sum(0 < place <= 5 for place in ranks)
    return first / count, five / count, sum(1 / place for place in ranks if place) / count


def run(options: Options, detectors: tuple[str, ...] = DETECTORS, most: int | None = MOST_GOALS) -> Findings:
    """Measure goalwright's detectors, then the peers."""
    if options.corpus is None:
        pool = pool_of(ROOT / "skills" / "goalwright_skills" / "library")
        return Findings(
            (_speed(pool, 200 if options.quick else AT_ONCE),), notes=("Quality needs a corpus: --corpus DIR.",)
        )
    corpus = Corpus.read(options.corpus, 20 if options.quick else most)
    rows = {f"goalwright, {name}": row(places(name, corpus)) for name in detectors}
    if options.peers is not None:
        for key, subjects in PEERS.items():
            rows |= _peer(options, key, subjects, corpus)
    title = f"{len(corpus.goals)} goals, {len(corpus.whole)} skills"
    selected = sum(bool(detector().detect(goal["goal"], corpus.pools[goal["pool"]])) for goal in corpus.nothing)
    share = selected / (len(corpus.nothing) or 1)
    note = (
        f"Goals that should select nothing, though they are of the field: goalwright selects for {share:.0%} of them."
    )
    tables = (Table(title, COLUMNS, rows), _speed(corpus.whole, 200 if options.quick else AT_ONCE))
    return Findings(tables, notes=(note,))


def _peer(options: Options, key: str, subjects: tuple[str, ...], corpus: Corpus) -> dict[str, tuple[Cell, ...]]:
    assert options.peers is not None
    texts = {pool: [[skill.name, skill.description] for skill in skills] for pool, skills in corpus.pools.items()}
    asked = {
        "pools": texts,
        "whole": [[skill.name, skill.description] for skill in corpus.whole],
        "goals": corpus.goals,
    }
    try:
        reported = options.peers.report(key, f"on_{key}", asked | {"folder": str(options.corpus)}, LIMIT)
    except MissingPeer as missing:
        return {subject: cells(*[str(missing)] * len(COLUMNS)) for subject in subjects}
    found = {}
    for subject in subjects:
        lines = [line for line in reported.lines if line["subject"] == subject]
        found[subject] = row(lines) if lines else cells(*[reported.fault or "nothing reported"] * len(COLUMNS))
    return found


def _speed(skills: list[Skill], count: int) -> Table:
    """The time with as many skills as are indexed at once: those given, repeated under other names."""
    many = [
        replace(skills[i % len(skills)], name=f"{skills[i % len(skills)].name[:50]}-{i}", stamp=i + 1)
        for i in range(count)
    ]
    goals = [skill.description[:200] for skill in skills[:50]]
    with tempfile.TemporaryDirectory() as folder:
        cold = _seconds(RankedDetector(Path(folder)), goals[0], many)
        finder = RankedDetector(Path(folder))
        load = _seconds(finder, goals[0], many)
        times = [1000 * _seconds(finder, goal, many) for goal in goals]
    columns = (Column("index built", "s"), Column("index loaded", "ms"), Column("a goal, warm", "ms"))
    return Table(
        f"{count:,} skills", columns, {"goalwright, ranked": cells(cold, 1000 * load, times)}, is_plotted=False
    )


def _seconds(finder: RankedDetector, goal: str, skills: list[Skill]) -> float:
    began = time.perf_counter()
    finder.rank(goal, skills, 5)
    return time.perf_counter() - began


BENCHMARK = Benchmark(
    "selection",
    "How often a goal finds its skill, and how long that takes.",
    "The goal's own skill is always first, and takes no time.",
    ("words", "minilm"),
    run,
)


def main() -> int:
    """As `python -m bench.selection CORPUS [DETECTOR]`."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    names = (words[1],) if len(words) > 1 else (DEFAULT,)

    def with_corpus(options: Options) -> Findings:
        corpus = Path(words[0]) if words else options.corpus
        return run(Options(options.quick, corpus, options.peers), names, None)

    return command.single(BENCHMARK, with_corpus)


if __name__ == "__main__":
    sys.exit(main())
