"""Intervals and verdicts.

A difference is paired by case. Its interval is a bootstrap over cases, and over the repeats of each drawn case. As
these draws are independent, the distribution of the mean is computed exactly, and 10,000 means are drawn from it.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRAWS = 10_000
# With fewer cases, equal variants differ in all cases by chance too often.
FEWEST = 3
SEED = 20_261_116
_Z = 1.959964
_NEGLIGIBLE = 1e-15

Verdict = Literal["helps", "hurts", "no difference shown"]
# The outcomes of the repeats of one case with the first and with the other variant.
Pair = tuple["Sequence[bool]", "Sequence[bool]"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two variants over paired cases, with its verdict.

    `needed_cases` is the number of further cases that would show the observed difference; None if there is none.
    """

    difference: Interval
    verdict: Verdict
    better: tuple[str, ...]
    worse: tuple[str, ...]
    same: int
    needed_cases: int | None


def rate(outcomes: Sequence[Sequence[bool]]) -> Interval | None:
    """Return the share of passed runs with Wilson's interval; None if there are no runs.

    Repeats of a case are correlated, so the number of independent runs is estimated from the spread between cases.
    """
    shares = [sum(runs) / len(runs) for runs in outcomes if runs]
    runs = sum(map(len, outcomes))
    if not shares:
        return None
    passed = sum(map(sum, outcomes)) / runs
    mean = sum(shares) / len(shares)
    spread = sum((share - mean) ** 2 for share in shares) / max(len(shares) - 1, 1) / len(shares)
    independent = min(max(passed * (1 - passed) / spread, len(shares)), runs) if spread else float(len(shares))
    centre = (passed + _Z**2 / (2 * independent)) / (1 + _Z**2 / independent)
    width = (
        _Z / (1 + _Z**2 / independent) * math.sqrt(passed * (1 - passed) / independent + _Z**2 / (4 * independent**2))
    )
    low, high = round(centre - width, 12), round(centre + width, 12)
    return Interval(passed, max(0.0, low), min(1.0, high))


def compare(cases: Mapping[str, Pair]) -> Comparison | None:
    """Compare the second variant with the first over the cases that both have run; None if there are none."""
    pairs = {case: pair for case, pair in cases.items() if pair[0] and pair[1]}
    if not pairs:
        return None
    differences = {case: _share(after) - _share(before) for case, (before, after) in pairs.items()}
    mean = sum(differences.values()) / len(differences)
    low, high = bootstrap(list(pairs.values()))
    verdict: Verdict = "helps" if low > 0 else "hurts" if high < 0 else "no difference shown"
    if len(pairs) < FEWEST:
        verdict = "no difference shown"
    better = tuple(case for case, difference in differences.items() if difference > 0)
    worse = tuple(case for case, difference in differences.items() if difference < 0)
    same = len(pairs) - len(better) - len(worse)
    needed = 0 if verdict != "no difference shown" else _needed(mean, (high - low) / 2, len(pairs))
    return Comparison(Interval(mean, low, high), verdict, better, worse, same, needed)


def bootstrap(pairs: Sequence[Pair], draws: int = DRAWS, seed: int = SEED) -> tuple[float, float]:
    """Return the interval that contains the middle 95 % of the drawn means."""
    unit = math.lcm(*(len(runs) for pair in pairs for runs in pair))
    sums = _distribution_of_sum(_case_distribution(pairs, unit), len(pairs))
    values, chances = list(sums), list(accumulate(sums.values()))
    # The values are sorted, so quantiles of the drawn random numbers give the quantiles of the means.
    quantiles = _middle_quantiles(draws, seed)
    low, high = (values[bisect(chances, number * chances[-1], 0, len(values) - 1)] for number in quantiles)
    return low / unit / len(pairs), high / unit / len(pairs)


@cache
def _middle_quantiles(draws: int, seed: int) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of numbers drawn between 0 and 1."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    drawn = sorted(dice.random() for _ in range(draws))
    return drawn[int(0.025 * draws)], drawn[math.ceil(0.975 * draws) - 1]


def _needed(mean: float, half: float, cases: int) -> int | None:
    """Return how many further cases would exclude 0: the interval shrinks with the square root of their number."""
    if not mean:
        return None
    return max(math.ceil(cases * (half / abs(mean)) ** 2) - cases, FEWEST - cases, 1)


def _case_distribution(pairs: Sequence[Pair], unit: int) -> dict[int, float]:
    """Return the distribution of the difference of a randomly drawn case with redrawn repeats, in units of 1/`unit`."""
    distribution: dict[int, float] = {}
    for before, after in pairs:
        for old, old_chance in _redrawn(before, unit):
            for new, new_chance in _redrawn(after, unit):
                chance = old_chance * new_chance / len(pairs)
                distribution[new - old] = distribution.get(new - old, 0.0) + chance
    return distribution


def _redrawn(runs: Sequence[bool], unit: int) -> list[tuple[int, float]]:
    """Return the possible pass rates of redrawn runs, in units of 1/`unit`, with their probabilities."""
    count, share = len(runs), _share(runs)
    chances = (
        math.comb(count, passed) * share**passed * (1 - share) ** (count - passed) for passed in range(count + 1)
    )
    return [(passed * unit // count, chance) for passed, chance in enumerate(chances) if chance]


def _distribution_of_sum(single: Mapping[int, float], count: int) -> dict[int, float]:
    """Return the distribution of the sum of `count` independent draws, without negligible probabilities."""
    total = {0: 1.0}
    for _ in range(count):
        sums: dict[int, float] = {}
        for partial_sum, chance in total.items():
            for value, value_chance in single.items():
                sums[partial_sum + value] = sums.get(partial_sum + value, 0.0) + chance * value_chance
        total = {value: chance for value, chance in sums.items() if chance > _NEGLIGIBLE}
    return dict(sorted(total.items()))


def _share(runs: Sequence[bool]) -> float:
    return sum(runs) / len(runs)
