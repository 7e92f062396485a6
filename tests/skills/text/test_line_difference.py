"""Tests of diffs in bounded time."""

from __future__ import annotations

import random

from goalwright_skills.text import line_difference


def test_short_texts_get_the_diff_of_difflib() -> None:
    from difflib import unified_diff

    old, new = ["a\n", "b\n", "c\n"], ["a\n", "x\n", "c\n"]
    assert list(line_difference.line_difference(old, new, "a/f", "b/f")) == list(unified_diff(old, new, "a/f", "b/f"))


def test_many_repeated_lines_are_compared_quickly() -> None:
    draw = random.Random(1)
    old = [f"{draw.randrange(150)}\n" for _ in range(60_000)]
    new = ["5\n" if line == "0\n" else line for line in old]

    rows = list(line_difference.line_difference(old, new, "a/f", "b/f"))

    assert rows[:2] == ["--- a/f\n", "+++ b/f\n"]
    assert rows.count("+5\n") >= 300
