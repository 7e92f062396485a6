"""The skills that ship: each loads cleanly, follows the specification, and is selected by the goals it is for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.discovery.locations import LIBRARY
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.format import frontmatter
from goalwright_skills.manage.suspicion import examine
from goalwright_skills.selection.detectors import detector, top
from tests.skills.library_goals import GOALS, UNRELATED, UNSURE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_skills.selection.detector import SkillDetector
    from tests.nursery import Ran


DOCUMENTATION = LIBRARY.parents[2] / "docs" / "skills.md"
FOLDERS = sorted(path.parent for path in LIBRARY.glob("*/SKILL.md"))
PLACEHOLDER = "$ARGUMENTS"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    nowhere = tmp_path_factory.mktemp("empty")
    return Registry(nowhere, env={}, home=nowhere)


@pytest.fixture(scope="module")
def chooser() -> SkillDetector:
    return detector()


def test_all_load_as_bundled_skills_without_a_warning(shipped: Registry) -> None:
    rows = shipped.list_skills(all=True)
    assert [row.name for row in rows] == [folder.name for folder in FOLDERS]
    assert {(row.source, row.state) for row in rows} == {("bundled", "active")}
    assert shipped.warnings == []


def test_the_skills_that_the_documentation_promises_exist(shipped: Registry) -> None:
    named = "cataloging-apis code-review weekly-report-generator chinese-writing incremental-update hn-analysis"
    assert {*named.split(), "web-extraction"} <= {skill.name for skill in shipped.list_skills()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_follows_the_specification(folder: Path) -> None:
    path = folder / "SKILL.md"
    text = path.read_text(encoding="utf-8")
    parsed = frontmatter.parse(text, path, folder=folder.name, strict=True)
    assert parsed.problems == ()
    assert parsed.name == folder.name
    assert len(parsed.description) <= frontmatter.DESCRIPTION_LIMIT
    assert len(text.splitlines()) < 500
    assert examine(folder) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_says_early_what_to_answer_and_takes_arguments_once(folder: Path) -> None:
    lines = (folder / "SKILL.md").read_text(encoding="utf-8").splitlines()
    body = lines[lines.index("---", 1) + 1 :]
    early = "\n".join(body[:40])
    assert PLACEHOLDER in early
    assert re.search(r"^## (?:Output|输出格式)$", early, re.MULTILINE)
    assert "\n".join(body).count(PLACEHOLDER) == 1
    assert re.search(r"^## (?:Example|示例)$", "\n".join(body), re.MULTILINE)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_files_beside_a_skill_are_those_it_mentions(folder: Path) -> None:
    body = (folder / "SKILL.md").read_text(encoding="utf-8")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"SKILL.md"}
    assert {name for name in there if name in body} == there
    assert set(re.findall(r"`(references/[\w.-]+)`", body)) == there


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_skills_refer_only_to_skills_that_ship(folder: Path) -> None:
    description = frontmatter.parse((folder / "SKILL.md").read_text(encoding="utf-8"), folder / "SKILL.md").description
    referred = set(re.findall(r"\bFor [^.]+? use ([a-z-]+)\.", description))
    assert referred <= {other.name for other in FOLDERS} - {folder.name}


def test_a_loaded_skill_has_its_arguments_filled(shipped: Registry) -> None:
    loaded = shipped.load_content("code-review", "src/pay.py, above all money")
    assert "(empty means everything given): src/pay.py, above all money" in loaded
    assert loaded.startswith(f"Base directory for this skill: {LIBRARY / 'code-review'}")
    assert PLACEHOLDER not in shipped.load_content("code-review")


def test_the_documentation_has_a_row_for_each_in_order() -> None:
    table = DOCUMENTATION.read_text(encoding="utf-8").split("## The skills that ship")[1]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == [folder.name for folder in FOLDERS]


def test_every_skill_has_goals_of_its_own() -> None:
    assert set(GOALS) == {folder.name for folder in FOLDERS}
    assert all(len(set(goals)) >= 8 for goals in GOALS.values())


@pytest.mark.parametrize(("name", "goal"), [(name, goal) for name, goals in GOALS.items() for goal in goals])
def test_a_goal_selects_the_skill_that_is_made_for_it(
    name: str, goal: str, shipped: Registry, chooser: SkillDetector
) -> None:
    found = chooser.detect(goal, shipped.list_skills())
    assert [selection.name for selection in found][:1] == [name], [(one.name, one.score) for one in found]


@pytest.mark.parametrize(("name", "goal"), UNSURE.items())
def test_a_skill_that_is_not_selected_may_still_be_the_first_to_be_listed(
    name: str, goal: str, shipped: Registry, chooser: SkillDetector
) -> None:
    assert top(chooser, goal, shipped.list_skills(), 1)[0].name == name


@pytest.mark.parametrize("goal", UNRELATED)
def test_a_goal_of_another_kind_selects_nothing(goal: str, shipped: Registry, chooser: SkillDetector) -> None:
    assert chooser.detect(goal, shipped.list_skills()) == []


def test_the_command_selects_from_the_library_in_any_folder(goalwright: Callable[..., Ran], tmp_path: Path) -> None:
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    ran = goalwright("skills", "select", "Review my pull request", "--json", "--workspace", str(empty))
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out)["selected"][0]["name"] == "code-review"
