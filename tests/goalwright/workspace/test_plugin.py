"""Detectors of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.workspace.skills import WorkspaceSkills
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goalwright_skills.skill import Skill

POINTS = """[goalwright.detectors]
foreign = tests.goalwright.workspace.test_plugin:Foreign
ranking = tests.goalwright.workspace.test_plugin:Ranking
"""


class Foreign:
    """A detector as another package may write it; what it gives depends on the goal."""

    answers: dict[str, Callable[[str], Any]] = {  # noqa: RUF012 - never changed
        "plain": lambda name: [(name, 0.5, "because")],
        "$code-review": lambda name: [(name, 0.5, "because")],
        "boom": lambda _: 1 / 0,
        "short": lambda name: [(name, 0.5)],
        "words": lambda name: [(name, "high", None)],
    }

    def detect(self, goal: str, skills: Sequence[Skill]) -> Any:
        return self.answers[goal](skills[0].name)


class Ranking(Foreign):
    """One that ranks as well."""

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> Any:
        return [(skills[1].name, limit, goal)]


@pytest.fixture
def skills_here(workspace: Path, installed: None) -> WorkspaceSkills:
    """A workspace's skills, and the detector of an installed package."""
    return WorkspaceSkills(Paths.of(workspace, {}), Settings(detector="foreign"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that offers detectors."""
    installed = tmp_path / "installed"
    (installed / "foreign-1.dist-info").mkdir(parents=True)
    (installed / "foreign-1.dist-info" / "METADATA").write_text("Name: foreign\nVersion: 1\n", encoding="utf-8")
    (installed / "foreign-1.dist-info" / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(installed))


def test_a_detector_of_another_package_may_give_plain_tuples(skills_here: WorkspaceSkills) -> None:
    skills = skills_here.active()
    (selections,) = skills_here.select(skills_here.request("plain"))
    assert (selections.name, selections.score, selections.reason) == (skills[0].name, 0.5, "because")
    assert [one.score for one in skills_here.rank(skills_here.request("plain", limit=2))] == [0.5, 0.0]


def test_named_skills_are_selected_with_any_detector(skills_here: WorkspaceSkills) -> None:
    skills = skills_here.active()
    selections = skills_here.select(skills_here.request("$code-review"))
    assert [(one.name, one.score) for one in selections] == [("code-review", 1.0), (skills[0].name, 0.5)]


@pytest.mark.parametrize(
    ("goal", "says"),
    [("boom", "ZeroDivisionError: division by zero"), ("short", "TypeError"), ("words", "is not a name, a score and")],
)
def test_a_failing_plugin_is_named_in_the_error(skills_here: WorkspaceSkills, goal: str, says: str) -> None:
    with pytest.raises(InputError, match="the detector 'foreign' failed: ") as caught:
        skills_here.select(skills_here.request(goal))
    assert says in caught.value.message
    assert "choose the detector 'ranked'" in caught.value.hint
    with pytest.raises(InputError, match="the detector 'foreign' failed: "):
        skills_here.rank(skills_here.request(goal, limit=3))


@pytest.mark.usefixtures("installed")
def test_a_ranking_plugin_ranks_the_best(workspace: Path) -> None:
    skills_here = WorkspaceSkills(Paths.of(workspace, {}), Settings(detector="ranking"))
    skills = skills_here.active()
    assert [(one.name, one.score) for one in skills_here.rank(skills_here.request("plain", limit=1))] == [
        (skills[1].name, 1)
    ]
