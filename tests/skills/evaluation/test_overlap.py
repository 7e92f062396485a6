"""Pairs of skills that compete for the same goals, from goals and from descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.evaluation import overlap
from goalwright_skills.evaluation.labelled import LabelledGoal
from goalwright_skills.evaluation.overlap import (
    Overlap,
    candidates,
    in_descriptions,
    in_goals,
    near_in_meaning,
    phrases,
)
from goalwright_skills.evaluation.words import Vocabulary
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.skill import Skill
from tests.skills.evaluation.pool import Fixed, pool

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SKILLS = {
    "merging-pdfs": ("Merge PDF files, split PDF pages. Use when asked to combine PDFs.", "Join them."),
    "pdf-tools": ("Split PDF pages and rotate them. Use for filling PDF forms.", "Open them."),
    "baking": ("Bake sourdough loaves with a starter.", "Knead."),
}


def test_an_expected_skill_competes_with_the_selected_one(tmp_path: Path) -> None:
    skills = pool(tmp_path, dict.fromkeys("abc", ("Does it.", "")))
    table = {"one": {"b": 0.9, "a": 0.8}, "two": {"b": 0.4, "a": 0.3}, "both": {"a": 0.9, "c": 0.8}, "none": {"c": 0.9}}
    goals = [
        LabelledGoal("1", 1, "one", ("a",)),
        LabelledGoal("2", 2, "two", ("a",)),
        LabelledGoal("3", 3, "both", ("a", "c")),
        LabelledGoal("4", 4, "none", ()),
    ]
    assert in_goals(goals, skills, Fixed(table)) == [Overlap("a", "b", ("one", "two"))]


def test_without_labels_the_skills_selected_together_compete(tmp_path: Path) -> None:
    skills = pool(tmp_path, dict.fromkeys("abc", ("Does it.", "")))
    table = {"one": {"b": 0.9, "a": 0.8}, "two": {"c": 0.9}}
    goals = [LabelledGoal(text, 1, text, None) for text in ("one", "two")]
    assert in_goals(goals, skills, Fixed(table)) == [Overlap("a", "b", ("one",))]


def test_a_phrase_of_one_description_that_selects_the_other_is_an_example(tmp_path: Path) -> None:
    skills = pool(tmp_path, SKILLS)
    overlaps_found, left = in_descriptions(skills, RankedDetector(), 10)
    assert [(one.a, one.b) for one in overlaps_found] == [("merging-pdfs", "pdf-tools")]
    assert "split PDF pages" in overlaps_found[0].goals
    assert left == 0
    assert in_descriptions(skills, RankedDetector(), 10, only="baking") == ([], 0)


def test_phrases_could_be_goals() -> None:
    description = (
        "Reads pages (HTML or text). Use when the user asks to extract prices; always invoke for tables. Does not "
        "edit files. Not for images. Ok."
    )
    skill = Skill("reading", description, "/s", "project", extra={"when_to_use": "When prices change."})
    assert phrases(skill) == ["Reads pages", "HTML or text", "extract prices", "When prices change"]


def test_only_pairs_that_share_a_rare_term_are_tried() -> None:
    def skill(number: int) -> Skill:
        return Skill(f"s{number}", f"Shared words word{number % 40}x apart.", "/s", "project")

    skills = [skill(number) for number in range(120)]
    overlaps_found = candidates(Vocabulary(skills), [one.name for one in skills], {})
    assert len(overlaps_found) == 40 * 3  # three skills share each rare word; "shared" is in all of them
    assert all((int(a[1:]) - int(b[1:])) % 40 == 0 for a, b in overlaps_found)


def test_the_work_is_bounded_and_untried_pairs_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skills = pool(tmp_path, {f"pdf-{name}": ("Split PDF pages and rotate them.", "") for name in "abcd"})
    overlaps_found, left = in_descriptions(skills, RankedDetector(), 1)
    assert (len(overlaps_found), left) == (1, 5)
    monkeypatch.setattr(overlap, "MOST_PHRASES", 1)
    tried: list[int] = []
    overlaps_found, left = in_descriptions(skills, RankedDetector(), 99, progress=tried.append)
    assert (len(overlaps_found), left, tried) == (1, 5, [1, 2])


def test_paraphrased_skills_are_compared(tmp_path: Path) -> None:
    skills = pool(
        tmp_path,
        {
            "email-drafts": ("Writes emails and replies to customers.", ""),
            "customer-messages": ("Drafts mail for clients and answers their letters.", ""),
            "baking": ("Bake sourdough loaves with a starter.", ""),
        },
    )
    near = near_in_meaning(skills)
    assert ("customer-messages", "email-drafts") in near
    assert not any("baking" in pair for pair in near)
    assert ("customer-messages", "email-drafts") in candidates(Vocabulary(skills), [one.name for one in skills], near)
