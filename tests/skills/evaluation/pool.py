"""A small pool of skills on disk, and detectors for tests of evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def pool(folder: Path, skills: Mapping[str, tuple[str, str]]) -> list[Skill]:
    """Skills by name, each with its description and body."""
    selections = []
    for name, (description, body) in skills.items():
        file = folder / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}\n", encoding="utf-8")
        selections.append(Skill(name, description, str(file), "project"))
    return selections


@dataclass
class Fixed:
    """A detector that gives each goal what a table says: names with scores, from 0.5 on selected."""

    table: Mapping[str, Mapping[str, float]]
    asked: list[str] = field(default_factory=list)

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        self.asked.append(goal)
        return [one for one in self.rank(goal, skills, 99) if one.score >= 0.5]

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        rows = sorted(self.table.get(goal, {}).items(), key=lambda item: -item[1])
        return [Selection(name, score, "the table says so") for name, score in rows][:limit]
