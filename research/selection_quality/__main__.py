"""Runs all measurements and checks the bounds."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.selection.detectors import DEFAULT, detector

from selection_quality import corpus, held_out, none, ranks, reliability, sets, speed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill

    from selection_quality.corpus import Corpus, LabelledGoal

SIZES = (200, 2_000, 9_000)
# Measure every fourth goal of large sets in large pools; the figures differ by less than a point.
SPARSE = 4


@dataclass(slots=True)
class Bench:
    """The state of a run: the corpus, the detectors by pool, and missed bounds."""

    corpus: Corpus
    detector: str
    more: list[Skill]
    baselines: Mapping[str, Callable[[Sequence[Skill]], SkillDetector]] = field(default_factory=dict)
    finders: dict[str, SkillDetector] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def finder(self, pool: str) -> SkillDetector:
        """Return the detector of a pool."""
        if pool not in self.finders:
            self.finders[pool] = detector(self.detector)
        return self.finders[pool]

    def bound(self, what: str, *, ok: bool) -> None:
        """Record a missed bound."""
        if not ok:
            self.missed.append(what)

    def own_pools(self) -> dict[str, list[ranks.Outcome]]:
        """Measure each pool's goals among its own skills."""
        found, each = {}, []
        baselines: dict[str, list[ranks.Figures]] = {name: [] for name in self.baselines}
        for name in self.corpus.asked:
            pool, goals = self.corpus.pools[name], self.corpus.labelled(name)
            found[name] = [ranks.outcome(self.finder(name), goal, pool) for goal in goals]
            each.append(ranks.Figures.of(found[name]))
            print(each[-1].line(f"{name} ({len(pool)} skills, {len(goals)} goals)"))
            for baseline, make in self.baselines.items():
                other = make(pool)
                baselines[baseline].append(ranks.Figures.of([ranks.outcome(other, goal, pool) for goal in goals]))
        macro = ranks.Figures.macro(each)
        print(macro.line("macro"))
        for baseline, figures in baselines.items():
            print(ranks.Figures.macro(figures).line(f"macro, {baseline}"))
        self.bound(f"R@1 {macro.first:.3f} < 0.75", ok=macro.first >= 0.75)
        return found

    def large_pools(self) -> None:
        """Measure the goals in larger pools, beside plain BM25."""
        for size in SIZES:
            pool = self.corpus.large(size, self.more)
            finder, floor = detector(self.detector), ranks.PlainBM25(pool)
            figures = []
            for one in (finder, floor):
                each = []
                for name in self.corpus.asked:
                    goals = self.corpus.labelled(name)
                    sample = goals[:: SPARSE if len(goals) > 500 else 1]
                    each.append(ranks.Figures.of([ranks.outcome(one, goal, pool) for goal in sample]))
                figures.append(ranks.Figures.macro(each))
            print(figures[0].line(f"{len(pool)} skills"))
            print(figures[1].line(f"{len(pool)} skills, plain BM25"))
            self.bound(f"{size} skills: below BM25", ok=figures[0].first > figures[1].first)

    def no_skill(self, own: dict[str, list[ranks.Outcome]]) -> None:
        """Measure related and everyday goals that need no skill."""
        related = [goal for goal in self.corpus.goals if not goal.expected]
        if related:
            scores = [
                ranks.outcome(self.finder(goal.pool), goal, self.corpus.pools[goal.pool]).score for goal in related
            ]
            positive = [one.score for name in {goal.pool for goal in related} for one in own[name]]
            near = ranks.auroc(positive, scores)
            select = sum(bool(self.select(goal)) for goal in related)
            print(f"related goals that need no skill: AUROC {near:.3f}, {select} of {len(scores)} select")
            self.bound(f"near-field AUROC {near:.3f} < 0.88", ok=near >= 0.88)
        for name, pool in {"library": corpus.library(), **self.corpus.pools}.items():
            wrong = none.misfires(self.finder(name), corpus.everyday(), pool)
            print(f"everyday goals, {name}: {len(wrong)} of {len(corpus.everyday())} select {'; '.join(wrong)}")
            self.bound(f"{len(wrong)} everyday goals select in {name}", ok=len(wrong) <= 2)

    def several(self) -> None:
        """Measure goals for several skills and, for comparison, for one."""
        written = corpus.goals_of(corpus.DATA / "several_skills.jsonl")
        single = [goal for name in self.corpus.asked for goal in self.corpus.labelled(name)][::SPARSE]
        for what, goals in (("written", written), ("joined", corpus.joined(self.corpus)), ("for one skill", single)):
            known = [goal for goal in goals if goal.pool in self.corpus.pools]
            figures = sets.measure(known, self.select)
            print(figures.line(f"{len(known)} goals, {what}"))
            if what != "for one skill":
                self.bound(f"set recall {figures.recall:.3f} < 0.78, {what}", ok=figures.recall >= 0.78)
                self.bound(f"{figures.selected:.2f} selected, {what}", ok=figures.selected < 4.5)

    def select(self, goal: LabelledGoal) -> set[str]:
        """Return the skills that a goal selects in its pool."""
        return {one.name for one in self.finder(goal.pool).detect(goal.text, self.corpus.pools[goal.pool])}

    def reliability(self, own: dict[str, list[ranks.Outcome]], plot: Path | None) -> None:
        """Measure how often the first skill is right, by its score."""
        curves = {name: reliability.bins([(one.score, one.place == 1) for one in found]) for name, found in own.items()}
        pool, finder = self.corpus.large(SIZES[1], self.more), detector(self.detector)
        goals = [goal for name in self.corpus.asked for goal in self.corpus.labelled(name)][::SPARSE]
        found = [ranks.outcome(finder, goal, pool) for goal in goals]
        curves[f"{len(pool)} skills"] = reliability.bins([(one.score, one.place == 1) for one in found])
        for name, rows in curves.items():
            print(reliability.table(name, rows))
        if plot is not None:
            plot.write_text(reliability.plot(curves), encoding="utf-8")


def main() -> None:
    """Measure everything; exit 1 if a figure is out of its bound."""
    parser = argparse.ArgumentParser(prog="python -m selection_quality")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("name", nargs="?", default=DEFAULT, metavar="DETECTOR")
    parser.add_argument("--more", type=Path, action="append", default=[], help="a folder of skills for large pools")
    parser.add_argument("--plot", type=Path, help="write the reliability plot to this SVG file")
    parser.add_argument("--baselines", action="store_true", help="also measure BM25, TF-IDF and MiniLM in each pool")
    parser.add_argument("--held-out", action="store_true", help="also tune on each pool and measure the others")
    given = parser.parse_args()
    more = [skill for folder in given.more for skill in corpus.pool_of(folder)]
    baselines = {}
    if given.baselines:
        from selection_quality.baselines import BASELINES

        baselines = BASELINES
    bench = Bench(corpus.Corpus.read(given.corpus), given.name, more, baselines)
    own = bench.own_pools()
    bench.no_skill(own)
    bench.several()
    bench.reliability(own, given.plot)
    bench.large_pools()
    if given.name == DEFAULT:
        translated = corpus.goals_of(corpus.DATA / "translated.jsonl")
        print(none.Translated.measure(translated, bench.corpus.pools).line())
        mean = speed.measure(bench.corpus.everything, [goal.text for goal in bench.corpus.goals])
        bench.bound(f"{mean:.1f} ms per goal", ok=mean <= speed.MILLISECONDS)
    if given.held_out:
        print("\n".join(held_out.lines(bench.corpus)))
    for missed in bench.missed:
        print(f"out of its bound: {missed}", file=sys.stderr)
    sys.exit(bool(bench.missed))


if __name__ == "__main__":
    main()
