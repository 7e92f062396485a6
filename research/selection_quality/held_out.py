"""What the constants of the ranking owe to the goals they were tuned on: each pool with the others held out.

For each pool the best constants of a grid are looked for on its own goals, and the other pools are measured with them.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from goalwright_skills.selection.index import weights
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking import bm25

from selection_quality.ranks import Figures, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selection_quality.corpus import Corpus

GRID = {"FEW": (3.5, 5.0, 6.5), "B": (0.3, 0.45, 0.6), "FADE": (0.03, 0.06, 0.1)}
# So many goals of a pool are enough to choose constants by.
MOST_GOALS = 450


def lines(corpus: Corpus) -> Iterator[str]:
    """A row for each pool that the constants are tuned on."""
    chosen = weights.FEW, weights.B, bm25.FADE
    try:
        found = {point: _measured(corpus, point) for point in product(*GRID.values())}
    finally:
        _set(chosen)
    for pool in corpus.asked:
        best = max(found, key=lambda point: found[point][pool].reciprocal)
        others = Figures.macro([figures for name, figures in found[best].items() if name != pool])
        own = found[best][pool]
        constants = ", ".join(f"{name} {value}" for name, value in zip(GRID, best, strict=True))
        yield others.line(f"tuned on {pool} (R@1 {own.first:.3f} with {constants}), the others")
    low, high = (edge(Figures.macro([*each.values()]).first for each in found.values()) for edge in (min, max))
    yield f"R@1 over the whole grid: {low:.3f} to {high:.3f}"


def _measured(corpus: Corpus, point: tuple[float, ...]) -> dict[str, Figures]:
    _set(point)
    found = {}
    for pool in corpus.asked:
        goals, finder = corpus.labelled(pool), RankedDetector()
        sample = goals[:: max(1, len(goals) // MOST_GOALS)]
        found[pool] = Figures.of([outcome(finder, goal, corpus.pools[pool]) for goal in sample])
    return found


def _set(point: tuple[float, ...]) -> None:
    weights.FEW, weights.B, bm25.FADE = point
