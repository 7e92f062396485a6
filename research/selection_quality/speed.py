"""CPU time per goal with 5,000 skills: the corpus repeated under other names."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.skill import Skill

COUNT = 5_000
MILLISECONDS = 10.0


def measure(skills: Sequence[Skill], goals: Sequence[str]) -> float:
    """Print the times, and give the mean per goal in milliseconds."""
    many = [
        replace(skills[i % len(skills)], name=f"{skills[i % len(skills)].name[:50]}-{i}", stamp=i + 1)
        for i in range(COUNT)
    ]
    with tempfile.TemporaryDirectory() as folder:
        started = time.thread_time()
        RankedDetector(Path(folder)).rank(goals[0], many, 5)
        cold = time.thread_time() - started
        size = (Path(folder) / "postings.bin").stat().st_size
        detector = RankedDetector(Path(folder))
        started = time.thread_time()
        detector.rank(goals[0], many, 5)
        load = time.thread_time() - started
        times = []
        for goal in goals[:: max(1, len(goals) // 300)]:
            started = time.thread_time()
            detector.detect(goal, many)
            times.append(1000 * (time.thread_time() - started))
    times.sort()
    mean = sum(times) / len(times)
    print(f"{COUNT} skills: index built in {cold:.1f} s ({size / 1e6:.0f} MB), loaded in {1000 * load:.0f} ms;")
    print(f"  per goal, warm: {mean:.1f} ms mean, {times[int(0.95 * len(times))]:.1f} ms at the 95th percentile")
    return mean
