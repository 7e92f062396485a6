"""How well goals find their skills: `python -m bench.selection CORPUS [DETECTOR]`.

CORPUS has `skills/<pool>/**/SKILL.md` and `queries.jsonl`, one goal per line:
`{"id", "pool", "goal", "expected"}`; `expected` is null if no skill should be selected.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.discovery.locations import Location
from skills.discovery.scan import scan
from skills.discovery.skill_file import context
from skills.selection.detectors import DEFAULT, detector, top
from skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from skills.selection.detector import SkillDetector
    from skills.skill import Skill

KEEP = 0.95


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rank of a goal's expected skill (0 if it is not ranked), and the score of the first one."""

    place: int
    confidence: float


def pool_of(folder: Path) -> list[Skill]:
    """The skills of one pool, one for each name."""
    place = Location(folder, "project")
    found = [skill for file in scan([place], ["SKILL.md"]).files for skill in context(file, place).skills]
    return list({skill.name: skill for skill in found if skill.state == "active"}.values())


def outcome(finder: SkillDetector, goal: dict[str, Any], pool: list[Skill]) -> Outcome:
    """The rank of the expected skill among the first ten."""
    ranked = top(finder, goal["goal"], pool, 10)
    names = [selection.name for selection in ranked]
    place = names.index(goal["expected"]) + 1 if goal["expected"] in names else 0
    return Outcome(place, ranked[0].score if ranked else 0.0)


def figures(outcomes: list[Outcome]) -> tuple[float, float, float]:
    """R@1, R@5 and MRR."""
    count = len(outcomes) or 1
    first = sum(each.place == 1 for each in outcomes) / count
    five = sum(0 < each.place <= 5 for each in outcomes) / count
    return first, five, sum(1 / each.place for each in outcomes if each.place) / count


def line(name: str, values: tuple[float, float, float]) -> str:
    """A row of figures."""
    return f"{name:<40} R@1 {values[0]:.3f}  R@5 {values[1]:.3f}  MRR {values[2]:.3f}"


def main(corpus: Path, name_of_detector: str) -> None:
    """Measure each pool, all pools as one, and goals that should select nothing."""
    goals = [json.loads(text) for text in (corpus / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    pools = {folder.name: pool_of(folder) for folder in sorted((corpus / "skills").iterdir()) if folder.is_dir()}
    asked = sorted({goal["pool"] for goal in goals})
    detectors = {name: detector(name_of_detector) for name in asked}
    right: list[float] = []
    each: list[tuple[float, float, float]] = []
    for name in asked:
        own = [
            outcome(detectors[name], goal, pools[name]) for goal in goals if goal["pool"] == name and goal["expected"]
        ]
        right += [found.confidence for found in own if found.place == 1]
        each.append(figures(own))
        print(line(f"{name} ({len(pools[name])} skills, {len(own)} goals)", each[-1]))
    print(line("macro", tuple(sum(column) / len(each) for column in zip(*each, strict=True))))
    everything = list({skill.name: skill for pool in pools.values() for skill in pool}.values())
    whole = detector(name_of_detector)
    found = [outcome(whole, goal, everything) for goal in goals if goal["expected"]]
    print(line(f"all pools as one ({len(everything)} skills)", figures(found)))
    threshold = sorted(right)[int((1 - KEEP) * len(right))]
    none = [goal for goal in goals if goal["expected"] is None]
    near = [outcome(detectors[goal["pool"]], goal, pools[goal["pool"]]).confidence for goal in none]
    print(f"threshold that keeps {KEEP:.0%} of the correct first selections: {threshold:.4f}")
    print(f"  related goals that should select nothing: selected for {share(near, threshold):.3f} of {len(near)}")
    for name in asked:
        other = [goal for goal in goals if goal["pool"] != name and goal["expected"]]
        if other:
            scores = [outcome(detectors[name], goal, pools[name]).confidence for goal in other]
            print(f"  goals of other pools on {name}: selected for {share(scores, threshold):.3f} of {len(scores)}")
    if name_of_detector == DEFAULT:
        speed(everything, [goal["goal"] for goal in goals])


def share(scores: list[float], threshold: float) -> float:
    """The share of scores at or above the threshold."""
    return sum(score >= threshold for score in scores) / (len(scores) or 1)


def speed(skills: list[Skill], goals: list[str], count: int = 5_000) -> None:
    """Print the time per goal with 5,000 skills: the corpus repeated under other names."""
    many = [
        replace(skills[i % len(skills)], name=f"{skills[i % len(skills)].name[:50]}-{i}", stamp=i + 1)
        for i in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        RankedDetector(Path(folder)).rank(goals[0], many, 5)
        cold = time.perf_counter() - started
        size = (Path(folder) / "postings.bin").stat().st_size
        detector = RankedDetector(Path(folder))
        started = time.perf_counter()
        detector.rank(goals[0], many, 5)
        load = time.perf_counter() - started
        times = []
        for goal in goals[:: max(1, len(goals) // 300)]:
            started = time.perf_counter()
            detector.rank(goal, many, 5)
            times.append(time.perf_counter() - started)
    times.sort()
    mean, high = 1000 * sum(times) / len(times), 1000 * times[int(0.95 * len(times))]
    print(f"{count} skills: index built in {cold:.1f} s ({size / 1e6:.0f} MB), loaded in {1000 * load:.0f} ms;")
    print(f"  per goal, warm: {mean:.1f} ms mean, {high:.1f} ms at the 95th percentile")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m bench.selection CORPUS [DETECTOR]")
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else DEFAULT)
