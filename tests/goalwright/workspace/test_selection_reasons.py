"""Explanations of a selection by the detector, and by decisions of users and authors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.workspace.selection_reasons import explains, reasons
from goalwright.workspace.skills import WorkspaceSkills
from goalwright_skills.selection.detector import Explained, Explanation, PartScore, Selection
from goalwright_skills.selection.keyword import KeywordDetector
from tests.skills.tree import put

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

GOAL = "Catalogue every endpoint, then greet the readers"


@dataclass(frozen=True)
class Explaining:
    """A detector that explains its scores, as in a table."""

    scores: dict[str, float]
    least: float = 0.5

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        return [
            Selection(one.name, one.score, "it fits", certain=one.score > 0.9)
            for one in self.explain(goal, skills, 9).candidates
            if one.selected
        ]

    def explain(self, goal: str, skills: Sequence[Skill], limit: int) -> Explanation:
        known = [skill.name for skill in skills if skill.name in self.scores]
        explanation = [
            Explained(
                name,
                self.scores[name],
                self.scores[name] >= self.least,
                self.scores[name] - self.least,
                (PartScore("every endpoint", self.scores[name], {"words": 0.25}),),
                f"more words for {name}",
            )
            for name in sorted(known, key=lambda name: -self.scores[name])
        ]
        return Explanation(goal, any(one.score > 0.9 for one in explanation), tuple(explanation[:limit]))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("endpoints", "greeting", "style"):
        put(tmp_path / "skills" / name, name, f"Catalogue every endpoint, greet the readers: {name}.")
    return tmp_path


def skills(workspace: Path, **settings: Any) -> WorkspaceSkills:
    return WorkspaceSkills(Paths.of(workspace, {}), Settings(**settings))


def test_a_detector_explains_each_candidate_by_part_and_signal(workspace: Path) -> None:
    explanation = reasons(skills(workspace), GOAL, 2, Explaining({"endpoints": 0.95, "greeting": 0.4, "style": 0.1}))
    assert (explanation.goal, explanation.certain, len(explanation.candidates)) == (GOAL, True, 2)
    first, second = explanation.candidates
    assert (first.name, first.selected, first.parts[0].signals) == ("endpoints", True, {"words": 0.25})
    assert (second.name, second.selected, round(second.margin, 2)) == ("greeting", False, -0.1)
    assert second.change == "more words for greeting"


def test_all_selected_skills_are_explained_beyond_the_limit(workspace: Path) -> None:
    detector = Explaining({"endpoints": 0.8, "greeting": 0.7, "style": 0.1})
    assert [one.name for one in reasons(skills(workspace), GOAL, 1, detector).candidates] == ["endpoints", "greeting"]


def test_a_detector_that_does_not_explain_gives_scores_alone(workspace: Path) -> None:
    detector = KeywordDetector()
    explanation = reasons(skills(workspace), "Greet the readers of endpoints", 5, detector)
    assert (explains(detector), explains(Explaining({}))) == (False, True)
    assert {one.name for one in explanation.candidates} >= {"endpoints", "greeting", "style"}
    assert {(one.parts, one.margin) for one in explanation.candidates} == {((), 0.0)}
    assert all(one.selected for one in explanation.candidates if one.score > 0)


def test_decisions_of_users_and_authors_are_explained(workspace: Path) -> None:
    put(workspace / "skills/inner", "inner", "Greets the readers.\nuser-invocable: false")
    decided = skills(workspace, skills_require=("style",), skills_pin=("greeting",))
    detector = Explaining({"endpoints": 0.8, "greeting": 0.2, "inner": 0.1})
    explanation = {one.name: one for one in reasons(decided, GOAL, 9, detector).candidates}
    assert explanation["style"].selected
    assert explanation["style"].change == "It is required: every plan must use it, whatever its score."
    assert explanation["greeting"].change == (
        "It is pinned: the planner's listing always has it, whatever its score. More words for greeting"
    )
    assert "not called by name (user-invocable: false)" in explanation["inner"].change
    assert explanation["endpoints"].change == "more words for endpoints"


def test_an_uncallable_skill_is_not_suggested_by_name(workspace: Path) -> None:
    put(workspace / "skills/inner", "inner", "Greets the readers.\nuser-invocable: false")
    manual, required = skills(workspace, skills_manual=("inner",)), skills(workspace, skills_require=("inner",))
    explanation = reasons(manual, GOAL, 1, names=("inner",)).candidates[-1]
    assert (
        explanation.change
        == "It is manual, and not called by name (user-invocable: false): only your own plan uses it."
    )
    assert manual.name_warnings(manual.request("$inner"))[0].endswith("it is manual too: only your own plan uses it")
    explanation = reasons(required, GOAL, 1, names=("inner",)).candidates[0]
    assert explanation.change.endswith("whatever its score. It is not called by name (user-invocable: false).")


def test_a_tool_of_an_installed_package_cannot_be_selected(workspace: Path) -> None:
    explanation = {one.name: one for one in reasons(skills(workspace), GOAL, 1, names=("excel_read",)).candidates}
    assert explanation["excel_read"].change == "it cannot be selected: it is a tool"


def test_manual_and_disabled_skills_are_explained_with_a_remedy(workspace: Path) -> None:
    decided = skills(workspace, skills_manual=("style",), skills_off=("greeting",))
    explanation = {one.name: one for one in reasons(decided, GOAL, 9).candidates}
    assert not explanation["style"].selected
    assert explanation["style"].change == "It is manual: name it with $style in the goal, or request it."
    assert explanation["greeting"].change == "It is off (disabled by [skills] off): take it out of that list."
    named = {one.name: one for one in reasons(decided, f"$style {GOAL}", 9).candidates}
    assert (named["style"].selected, named["style"].score) == (True, 1.0)
