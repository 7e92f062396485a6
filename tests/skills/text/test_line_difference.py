"""A difference is the one that difflib makes, unless that would take too long; `git apply` reads it either way."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.needs import needs_git
from weft_skills.builtin.writing import patch
from weft_skills.text import line_difference

if TYPE_CHECKING:
    from pathlib import Path


def test_few_lines_are_compared_as_difflib_does() -> None:
    from difflib import unified_diff

    old, new = ["a\n", "b\n", "c\n"], ["a\n", "x\n", "c\n"]
    assert list(line_difference.line_difference(old, new, "a/f", "b/f")) == list(unified_diff(old, new, "a/f", "b/f"))


def test_many_lines_that_repeat_themselves_are_compared_at_once() -> None:
    draw = random.Random(1)
    old = [f"{draw.randrange(150)}\n" for _ in range(200_000)]
    new = ["5\n" if line == "0\n" else line for line in old]

    rows = list(line_difference.line_difference(old, new, "a/f", "b/f"))

    assert rows[:2] == ["--- a/f\n", "+++ b/f\n"]
    assert rows.count("+5\n") >= 1_000


@needs_git
@pytest.mark.parametrize("most", [0, 10, 40])
@pytest.mark.parametrize("seed", range(30))
def test_git_applies_what_was_not_compared_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, most: int
) -> None:
    monkeypatch.setattr(line_difference, "MOST_PAIRS", most)
    draw = random.Random(seed)
    same = [[f"{draw.randrange(4)}\n" for _ in range(draw.randrange(9))] for _ in range(2)]
    old, new = ("".join(same[0] + [f"{draw.randrange(3)}\n" for _ in range(n)] + same[1]) for n in (seed % 5, seed % 3))
    (tmp_path / "f").write_text(old, encoding="utf-8")
    made = patch.diff("f", old, new)
    if old != new:
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=made, text=True, check=True)
    assert (tmp_path / "f").read_text(encoding="utf-8") == new
