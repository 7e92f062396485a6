"""`git apply` accepts patches, with and without line by line comparison."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.builtin.writing import patch
from goalwright_skills.text import line_difference
from tests.needs import needs_git

if TYPE_CHECKING:
    from pathlib import Path


@needs_git
@pytest.mark.parametrize("most", [0, 10, 40])
@pytest.mark.parametrize("seed", range(30))
def test_git_applies_patches_without_line_comparison(
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
