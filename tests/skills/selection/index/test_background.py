"""The list of skills that the background process indexes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.index import background
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Skill("notes", "Writes notes: “größer”.", "/notes/SKILL.md", "project", "context", stamp=7)


@pytest.mark.parametrize(
    "skill",
    [
        PLAIN,
        replace(PLAIN, extra={"when_to_use": "for notes"}),
        replace(PLAIN, extra={"level": math.inf, "tools": ["a", {"b": None}], "large": 10**30}),
        replace(PLAIN, description="half a pair: \ud800", extra={"note": "\udc00", "level": -math.inf}),
    ],
)
def test_wanted_skills_are_read_back_unchanged(tmp_path: Path, skill: Skill) -> None:
    background.want(tmp_path, [skill, PLAIN])
    assert background._read(tmp_path / "wanted.json") == [skill, PLAIN]
