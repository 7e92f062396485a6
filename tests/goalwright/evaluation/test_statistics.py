"""Intervals and verdicts: calibrated by simulated comparisons."""

from __future__ import annotations

import random

import pytest

from goalwright.evaluation.statistics import Pair, bootstrap, compare, rate


def drawn(dice: random.Random, before: list[float], after: list[float], repeats: int = 3) -> dict[str, Pair]:
    """Runs of each case that pass with these probabilities."""
    return {
        f"case-{number}": tuple([dice.random() < chance for _ in range(repeats)] for chance in chances)  # type: ignore[misc]
        for number, chances in enumerate(zip(before, after, strict=True))
    }


def chances(dice: random.Random, number: int, cases: int) -> list[float]:
    """Pass probabilities of the kinds that suites have: any, even, mostly passing, and all or nothing."""
    kinds = (dice.random, lambda: 0.5, lambda: 0.9, lambda: dice.choice([0.05, 0.95]))
    return [kinds[number % 4]() for _ in range(cases)]


@pytest.mark.slow
def test_verdicts_of_simulated_comparisons_stay_within_the_error_bounds() -> None:
    dice = random.Random(5)
    found = 0
    for number in range(400):
        same = chances(dice, number, dice.randint(12, 40))
        comparison = compare(drawn(dice, same, same))
        found += comparison is not None and comparison.verdict != "no difference shown"
    seen = 0
    for _ in range(100):
        before = [dice.uniform(0, 0.7) for _ in range(30)]
        comparison = compare(drawn(dice, before, [chance + 0.3 for chance in before]))
        seen += comparison is not None and comparison.verdict == "helps"
    assert found <= 28, "7 % at most"
    assert seen >= 80


def test_interval_equals_that_of_a_simulated_bootstrap() -> None:
    pairs: list[Pair] = [
        ([True, False, False], [True, True, False]),
        ([False] * 3, [True] * 3),
        ([True] * 2, [True]),
    ] * 4
    dice = random.Random(1)
    means = []
    for _ in range(4_000):
        total = 0.0
        for before, after in dice.choices(pairs, k=len(pairs)):
            again, then = dice.choices(before, k=len(before)), dice.choices(after, k=len(after))
            total += sum(then) / len(then) - sum(again) / len(again)
        means.append(total / len(pairs))
    means.sort()
    low, high = bootstrap(pairs)
    assert low == pytest.approx(means[100], abs=0.03)
    assert high == pytest.approx(means[3_899], abs=0.03)
    assert (low, high) == bootstrap(pairs), "the draws are always the same"


def test_better_and_worse_cases_are_named_and_missing_ones_left_out() -> None:
    comparison = compare({"a": ([False], [True]), "b": ([True], [False]), "c": ([True], [True]), "d": ([], [True])})
    assert comparison is not None
    assert (comparison.better, comparison.worse, comparison.same) == (("a",), ("b",), 1)
    assert (comparison.verdict, comparison.difference.mean, comparison.needed_cases) == ("no difference shown", 0, None)
    assert compare({"a": ([], [])}) is None


def test_needed_cases_are_estimated_for_an_unproven_difference() -> None:
    pairs: dict[str, Pair] = {f"case-{number}": ([False], [number == 0]) for number in range(8)}
    comparison = compare(pairs)
    assert comparison is not None
    assert comparison.verdict == "no difference shown"
    needed = comparison.needed_cases
    assert needed is not None
    more: dict[str, Pair] = {f"case-{number}": ([False], [number % 8 == 0]) for number in range(8 + 4 * needed)}
    shown = compare(more)
    assert shown is not None
    assert shown.verdict == "helps"


def test_fewer_than_three_cases_show_no_difference() -> None:
    pairs: dict[str, Pair] = {}
    for number, expected in enumerate((("no difference shown", 2), ("no difference shown", 1), ("helps", 0)), 1):
        pairs[f"case-{number}"] = ([False], [True])
        comparison = compare(pairs)
        assert comparison is not None
        assert (comparison.verdict, comparison.needed_cases, comparison.difference.mean) == (*expected, 1)


def test_rate_of_all_or_none_has_an_interval() -> None:
    every, none = rate([[True] * 3] * 4), rate([[False]] * 4)
    assert every is not None
    assert none is not None
    assert (every.mean, every.high, none.mean, none.low) == (1, 1, 0, 0)
    assert every.low == pytest.approx(0.51, abs=0.01), "four cases, however often each is repeated"
    assert rate([[], []]) is None
