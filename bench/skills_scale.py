"""Skill selection among 1,000 to 80,000 skills: quality, time per goal, and the cost of the index.

Floor: plain BM25 over names and descriptions, in memory.

    python -m bench.skills_scale [CORPUS [SIZE…]]

CORPUS has `skills/<pool>/**/SKILL.md` and `queries.jsonl` with one goal per line: `{"goal", "expected"}`. Real skills
come first; generated skills, which mix two descriptions each, fill the pool. Without a corpus, the skills that ship are
used, and the first words of a description are the goal for it. One process builds an index and another one uses it, so
that memory is measured separately; times are CPU time.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from bench.harness.timing import growth_exponent
from bench.skills_index import BM25, GOALWRIGHT, SUBJECTS, Job, answer, build

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness.result import Cell

SIZES = (1_000, 10_000, 30_000, 80_000)
QUICK = 200
GOALS, QUICK_GOALS = 150, 10
# Seconds for one index, and for all goals of one size.
LIMIT = 3_600.0
MILLISECONDS = 15.0
COLD_SECONDS = 1.5
SLOW = "each of forty segments has a list per word, and lists of common words are long"
QUALITY = (Column("first place"), Column("R@5"), Column("R@30"))
COST = (
    Column("select, CPU a goal", "ms"), Column("select and list 30, CPU a goal", "ms"),
    Column("answer without an index, CPU", "s"), Column("index built, CPU", "s"), Column("index loaded, CPU", "ms"),
    Column("index on disk", "MB"), Column("peak while building", "MB"), Column("memory in use", "MB"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measurement:
    """The figures of one subject at one size, or the reason that there are none."""

    figures: dict[str, Any]
    note: str = ""

    def row(self, *names: str) -> tuple[Cell, ...]:
        """Return cells, with a dash for missing figures."""
        return cells(*(self.note or self.figures.get(name, "–") for name in names))

    def median(self, name: str) -> float | None:
        """Return one figure."""
        samples = self.figures.get(name)
        return statistics.median(samples) if isinstance(samples, list) else samples


def run(options: Options, sizes: tuple[int, ...] = SIZES) -> Findings:
    """Measure each size and subject in separate processes."""
    sizes = (QUICK,) if options.quick else sizes
    goals = QUICK_GOALS if options.quick else GOALS
    with tempfile.TemporaryDirectory() as generated:
        results = {
            size: {
                subject: measured(Job(subject, size, options.corpus, goals, Path(generated))) for subject in SUBJECTS
            }
            for size in sizes
        }
    return findings(results, options)


def findings(results: dict[int, dict[str, Measurement]], options: Options) -> Findings:
    """Turn the measurements into tables and aims."""
    tables = []
    for size, rows in results.items():
        quality = {subject: one.row("first", "five", "thirty") for subject, one in rows.items()}
        cost = {
            subject: one.row("select", "rank", "cold", "built", "loaded", "disk", "peak", "memory")
            for subject, one in rows.items()
        }
        tables += [
            Table(f"{size:,} skills: quality", QUALITY, quality, BM25),
            Table(f"{size:,} skills: cost", COST, cost, BM25, is_plotted=False),
        ]
    real = next((one.figures["real"] for rows in results.values() for one in rows.values() if "real" in one.figures), 0)
    note = f"{real:,} of the skills are real files; the others are generated from them."
    without = (
        () if options.corpus is not None else ("Without --corpus DIR, goals are the first words of descriptions.",)
    )
    return Findings(tuple(tables), tuple(aims(results)), (note, *without))


def aims(results: dict[int, dict[str, Measurement]]) -> list[Aim]:
    """Selection must be at least as good as BM25, and its time is bounded and sublinear."""
    judged, times = [], {}
    for size, rows in results.items():
        goalwright, floor = rows[GOALWRIGHT], rows[BM25]
        for name, title in (("first", "first place"), ("thirty", "R@30")):
            ours, theirs = goalwright.median(name), floor.median(name)
            if ours is not None and theirs:
                judged.append(Aim(f"{size:,} skills: {title}, goalwright over BM25", ours / theirs, 1.0, at_most=False))
        if (spent := goalwright.median("rank")) is not None:
            times[size] = spent
        if (cold := goalwright.median("cold")) is not None:
            judged.append(Aim(f"{size:,} skills: CPU of an answer without an index, s", cold, COLD_SECONDS))
    if times and max(times) >= SIZES[-1]:
        what = f"{max(times):,} skills: CPU a goal, ms"
        judged.append(Aim(what, times[max(times)], MILLISECONDS, reason=SLOW))
    if len(times) > 1:
        judged.append(
            Aim("exponent of a goal's CPU over skills", growth_exponent(list(times), list(times.values())), 1.0)
        )
    return judged


def measured(job: Job) -> Measurement:
    """Build an index in one process and answer goals in another."""
    with tempfile.TemporaryDirectory() as cache:
        first = _in_process(build, job, Path(cache))
        if first.note:
            return first
        second = _in_process(answer, job, Path(cache))
        return Measurement(first.figures | second.figures, second.note)


def _in_process(work: Callable[[Job, Path], dict[str, Any]], job: Job, cache: Path) -> Measurement:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_reported, args=(theirs, work, job, cache))
    process.start()
    theirs.close()
    try:
        if not ours.poll(LIMIT):
            return Measurement({}, f"not within {LIMIT:.0f} s")
        report = ours.recv()
    except EOFError:
        return Measurement({}, "not measured: the process ended")
    finally:
        process.kill()
        process.join()
    return Measurement(report) if isinstance(report, dict) else Measurement({}, report)


def _reported(connection: Any, work: Callable[[Job, Path], dict[str, Any]], job: Job, cache: Path) -> None:
    try:
        connection.send(work(job, cache))
    except Exception as error:  # noqa: BLE001 - keep the figures of the other subjects
        connection.send(f"not measured: {type(error).__name__}: {error}")


BENCHMARK = Benchmark(
    "skills_scale",
    "Skill selection among many skills: quality, time per goal, and the cost of the index.",
    "Plain BM25 over names and descriptions, in memory.",
    (),
    run,
)


def main() -> int:
    """Run `python -m bench.skills_scale [CORPUS [SIZE…]]`."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sizes = tuple(map(int, words[1:])) or SIZES

    def with_corpus(options: Options) -> Findings:
        corpus = Path(words[0]) if words else options.corpus
        return run(Options(options.quick, corpus, options.peers), sizes)

    return command.run_single(BENCHMARK, with_corpus)


if __name__ == "__main__":
    sys.exit(main())
