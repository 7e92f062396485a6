"""A draft replaces a skill with its own description, stamp and settings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from goalwright.workspace.substitute import SubstitutingRegistry
from goalwright_skills.discovery import file_stamp
from goalwright_skills.errors import InputError
from goalwright_skills.selection.ranked import RankedDetector
from tests.conftest import add_skill

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

NAME = "brewing-tea"
TEXT = f"---\nname: {NAME}\ndescription: Brew tea by leaf and water.\n{{keys}}---\n{{body}}\n"


@pytest.fixture
def draft(workspace: Path, tmp_path: Path) -> Path:
    old = add_skill(workspace, NAME, TEXT.format(keys="", body="Old.")) / "SKILL.md"
    while file_stamp.kept(old.stat(), file_stamp.now()) == file_stamp.RACY:
        time.sleep(0.01)  # until its stamp is trusted, and what is found under it kept
    (tmp_path / "draft").mkdir()
    return tmp_path / "draft" / "SKILL.md"


def standing_in(workspace: Path, draft: Path, body: str, keys: str = "") -> Skill:
    draft.write_text(TEXT.format(keys=keys, body=body), encoding="utf-8")
    skill = SubstitutingRegistry(workspace, {NAME: draft}, library=workspace / "none").get(NAME)
    assert skill is not None
    return skill


def scores(skill: Skill, cache: Path | None = None) -> list[str]:
    selections = RankedDetector(cache).rank("sharpen kitchen knives", [skill], 5)
    return [one.name for one in selections if "words of the goal" in one.reason]


def test_a_draft_has_its_own_file_stamp(workspace: Path, draft: Path, tmp_path: Path) -> None:
    before = standing_in(workspace, draft, "Pour slowly.")
    assert before.stamp in (file_stamp.RACY, file_stamp.of(draft.stat()))
    assert scores(before, tmp_path / "cache") == []
    assert scores(standing_in(workspace, draft, "Sharpen kitchen knives."), tmp_path / "cache") == [NAME]


def test_a_drafts_own_when_to_use_counts(workspace: Path, draft: Path) -> None:
    assert scores(standing_in(workspace, draft, "Pour slowly.", "when_to_use: to sharpen kitchen knives\n")) == [NAME]


def test_a_draft_that_cannot_be_read_is_wrong_input(workspace: Path, draft: Path) -> None:
    with pytest.raises(InputError, match=r"'brewing-tea' cannot be replaced by .*SKILL.md: No such file"):
        SubstitutingRegistry(workspace, {NAME: draft}).list_skills()
