"""Goals that need several skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.ranked import MAX_SELECTED, RankedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

POOL = {
    "pdf-tables": "Reads tables from PDF files, scanned pages included.",
    "pdf-forms": "Fills in PDF forms and their fields.",
    "spreadsheets": "Makes Excel workbooks with formulas, sheets and charts.",
    "slide-decks": "Builds slide decks and presentations for talks.",
    "survival": "Fits survival models to clinical data.",
    "gardening": "Plans beds, seeds and watering.",
}


def names(goal: str, skills: list[Skill]) -> list[str]:
    return [one.name for one in RankedDetector().detect(goal, skills)]


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"', f"# {name}\n\nSteps.\n")
    return registry(tmp_path).list_skills()


def test_each_part_of_a_goal_finds_its_skill(pool: list[Skill]) -> None:
    goal = "Read the tables from report.pdf, make an Excel workbook with formulas, and build a slide deck for the talk"
    assert set(names(goal, pool)) == {"pdf-tables", "spreadsheets", "slide-decks"}


def test_a_goal_of_one_part_selects_one_skill(pool: list[Skill]) -> None:
    assert names("Read the tables from these scanned PDF pages", pool) == ["pdf-tables"]


def test_scores_decrease_and_only_named_skills_score_one(pool: list[Skill]) -> None:
    goal = "Read tables from PDF files, Excel workbooks with formulas and charts, slide decks for talks"
    scores = [one.score for one in RankedDetector().detect(goal, pool)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 1
    assert max(scores) < 1
    first, *rest = RankedDetector().detect(f"use skill gardening. {goal}", pool)
    assert (first.name, first.score) == ("gardening", 1.0)
    assert [one.name for one in rest]
    assert all(one.score < 1 for one in rest)


def test_the_number_of_skills_is_bounded_by_the_clauses_of_the_goal(tmp_path: Path) -> None:
    for number in range(20):
        put(tmp_path / "skills" / f"tables-{number}", f"tables-{number}", "Reads tables from scanned PDF pages.")
    skills = registry(tmp_path).list_skills()
    assert len(names("Read the tables from these scanned PDF pages", skills)) <= 2
    goal = " ".join(f"Read the tables from the scanned PDF pages of volume {letter}." for letter in "abcdefghijklmn")
    assert len(names(goal, skills)) <= MAX_SELECTED


def test_a_skill_selected_together_by_description(tmp_path: Path) -> None:
    put(tmp_path / "skills/survival", "survival", "Fits survival models. Use with `clinical-reports`.")
    put(tmp_path / "skills/clinical-reports", "clinical-reports", "Patients, findings, conclusions.")
    put(tmp_path / "skills/gardening", "gardening", "Plans beds and seeds.")
    selections = RankedDetector().detect("Fit a survival model", registry(tmp_path).list_skills())
    assert [one.name for one in selections] == ["survival", "clinical-reports"]
    assert selections[1].reason == "survival is used with it"


@pytest.mark.parametrize("line", ["requires: [seeds]", "depends-on: seeds, soil", "metadata:\n  requires: seeds"])
def test_a_required_skill_is_selected_with_its_dependent(tmp_path: Path, line: str) -> None:
    put(tmp_path / "skills/garden-plan", "garden-plan", f"Plans garden beds.\n{line}")
    put(tmp_path / "skills/seeds", "seeds", "Catalogue numbers.")
    selections = RankedDetector().detect("Plan the garden beds", registry(tmp_path).list_skills())
    assert [one.name for one in selections] == ["garden-plan", "seeds"]


def test_a_mentioned_skill_wins_a_tie(tmp_path: Path) -> None:
    put(
        tmp_path / "skills/models",
        "models",
        "Fits survival models to trial data.",
        "Then see the **charts-b** skill.\n",
    )
    for name in ("charts-a", "charts-b", "charts-c"):
        put(tmp_path / "skills" / name, name, "Draws hazard curves.", "Steps.\n")
    selections = RankedDetector().detect(
        "Fit survival models to the trial data, then draw hazard curves", registry(tmp_path).list_skills()
    )
    assert [one.name for one in selections] == ["models", "charts-b"]
    assert selections[1].reason.endswith("goes with models")


def test_selections_are_equal_with_a_cached_index(tmp_path: Path) -> None:
    put(tmp_path / "skills/survival", "survival", "Fits survival models. Use with `clinical-reports`.")
    put(tmp_path / "skills/clinical-reports", "clinical-reports", "Patients, findings, conclusions.")
    skills = registry(tmp_path).list_skills()
    goal = "Fit a survival model"
    plain = RankedDetector().detect(goal, skills)
    for _ in range(2):
        assert RankedDetector(tmp_path / "cache").detect(goal, skills) == plain
    put(tmp_path / "skills/seeds", "seeds", "Plans beds. Use with survival.")
    more = registry(tmp_path).list_skills()
    assert RankedDetector(tmp_path / "cache").detect("Plan the beds", more) == RankedDetector().detect(
        "Plan the beds", more
    )
