"""Intervals and verdicts.

A difference is paired by case. Its interval is a bootstrap over cases, then over the repeats of each case. A drawn
case and its drawn repeats are independent of the others, so that a draw's mean is that of n draws of one distribution:
that is worked out exactly, and 10,000 means are drawn from it.
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
# Of fewer cases, equal variants differ by chance in all of them too often.
FEWEST = 3
SEED = 20_261_116
_Z = 1.959964
_NEGLIGIBLE = 1e-15

Verdict = Literal["helps", "hurts", "no difference shown"]
# The outcomes of one case's repeats, with the first variant and with the other.
Pair = tuple["Sequence[bool]", "Sequence[bool]"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where it lies with 95 % confidence."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two variants over paired cases, and what it shows.

    `needed_cases` is how many further cases a difference as large as the one seen would need; None if there is none.
    """

    difference: Interval
    verdict: Verdict
    better: tuple[str, ...]
    worse: tuple[str, ...]
    same: int
    needed_cases: int | None


def rate(outcomes: Sequence[Sequence[bool]]) -> Interval | None:
    """The share of runs that passed, given each case's; None if there are none.

    Wilson's interval for as many independent runs as the spread between the cases says: repeats of a case are alike.
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
    """The second variant against the first, over the cases that both have runs of; None if there are none."""
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
    """The interval that holds the middle 95 % of the means drawn."""
    unit = math.lcm(*(len(runs) for pair in pairs for runs in pair))
    sums = _sum_of(_one_case(pairs, unit), len(pairs))
    values, chances = list(sums), list(accumulate(sums.values()))
    # As `random.choices` draws; the values are sorted, so the n-th of all means is that of the n-th number drawn.
    low, high = (values[bisect(chances, at * chances[-1], 0, len(values) - 1)] for at in _middle(draws, seed))
    return low / unit / len(pairs), high / unit / len(pairs)


@cache
def _middle(draws: int, seed: int) -> tuple[float, float]:
    """Between which of the numbers drawn from 0 to 1 the middle 95 % lie."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    drawn = sorted(dice.random() for _ in range(draws))
    return drawn[int(0.025 * draws)], drawn[math.ceil(0.975 * draws) - 1]


def _needed(mean: float, half: float, cases: int) -> int | None:
    """How many further cases would leave 0 out of an interval as wide as this one, which shrinks with their root."""
    if not mean:
        return None
    return max(math.ceil(cases * (half / abs(mean)) ** 2) - cases, FEWEST - cases, 1)


def _one_case(pairs: Sequence[Pair], unit: int) -> dict[int, float]:
    """The difference of a case drawn at random, with its repeats drawn again, in parts of `unit`."""
    found: dict[int, float] = {}
    for before, after in pairs:
        for less, chance in _redrawn(before, unit):
            for more, other in _redrawn(after, unit):
                found[more - less] = found.get(more - less, 0.0) + chance * other / len(pairs)
    return found


def _redrawn(runs: Sequence[bool], unit: int) -> list[tuple[int, float]]:
    """The share that passes if as many runs are drawn from these, in parts of `unit`, with its probability."""
    count, share = len(runs), _share(runs)
    chances = (
        math.comb(count, passed) * share**passed * (1 - share) ** (count - passed) for passed in range(count + 1)
    )
    return [(passed * unit // count, chance) for passed, chance in enumerate(chances) if chance]


def _sum_of(one: Mapping[int, float], count: int) -> dict[int, float]:
    """The sum of `count` independent draws; chances that are too small to matter are left out."""
    total = {0: 1.0}
    for _ in range(count):
        after: dict[int, float] = {}
        for so_far, chance in total.items():
            for value, other in one.items():
                after[so_far + value] = after.get(so_far + value, 0.0) + chance * other
        total = {value: chance for value, chance in after.items() if chance > _NEGLIGIBLE}
    return dict(sorted(total.items()))


def _share(runs: Sequence[bool]) -> float:
    return sum(runs) / len(runs)
