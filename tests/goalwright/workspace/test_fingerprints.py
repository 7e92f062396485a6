"""Fingerprints of skills are shared by all goals until a skill changes."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from goalwright.workspace import fingerprints
from goalwright.workspace.fingerprints import Fingerprints
from goalwright_executor.capture.capture import Capture
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.stores import texts
from goalwright_planner.events import CatalogueTaken, SkillPrint
from goalwright_skills.discovery.file_stamp import RACY
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill


def aged(folder: Path, names: str) -> list[Skill]:
    """Skills whose files are old enough for their stamps to count."""
    for name in names:
        put(folder / "skills" / name, name)
        os.utime(folder / "skills" / name / "SKILL.md", (1, 1))
    found = registry(folder)
    found.scan()
    return found.list_skills()


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Skill]:
    monkeypatch.setattr("goalwright_skills.discovery.file_stamp.RACY_NS", 0)
    return aged(tmp_path, "abc")


def test_goals_share_the_fingerprints_until_a_skill_changes(skills: list[Skill]) -> None:
    prints = Fingerprints()
    first = prints.take(skills, "")
    assert [one.name for one in first] == ["a", "b", "c"]
    assert first[0].body == hashlib.sha256(skills[0].path.read_bytes()).hexdigest()
    assert prints.known(tuple(reversed(skills))) is first
    assert prints.take(skills[::-1], "") is first
    assert prints.known(skills[:2]) is None
    assert [one.name for one in prints.take(skills[1:], "")] == ["b", "c"]


def test_files_without_a_reliable_stamp_are_read_each_time(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    found = registry(tmp_path).list_skills()
    assert [skill.stamp for skill in found] == [RACY]
    prints = Fingerprints()
    first = prints.take(found, "")
    assert prints.known(found) is None
    put(tmp_path / "skills/a", "a", "Another one.")
    assert prints.take(found, "")[0].body != first[0].body


def test_only_listed_skills_of_many_are_hashed_unless_shared(
    skills: list[Skill], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "_HASH_ALL", 2)
    alone, shared = Fingerprints(), Fingerprints()
    assert [bool(one.body) for one in alone.take(skills, "<name>b</name>")] == [False, True, False]
    assert alone.known(skills) is None
    assert all(one.body for one in shared.take(skills, "", shared=True))
    assert shared.known(skills) is not None


def test_shared_fingerprints_are_captured_and_encoded_once_and_recorded_as_before() -> None:
    secret = "tr0ub4dor-and-3"
    prints = tuple(SkillPrint(f"skill-{number}", "d" * 64, "b" * 64) for number in range(12))
    prints = (*prints, SkillPrint(secret, "", ""))
    capture = Capture(secrets=Secrets.of({"MY_PASSWORD": secret}))
    bodies = [capture.event(CatalogueTaken(prints, f"<a>{goal}</a>", "")) for goal in ("x", "y")]
    assert bodies[0]["skills"] is bodies[1]["skills"]
    assert bodies[0]["skills"][0] == {"name": "skill-0", "description": "d" * 64, "body": "b" * 64}
    assert bodies[0]["skills"][-1]["name"] == "[redacted]"
    stored: dict[str, str] = {}
    rows = [texts.split(body, stored) for body in bodies]
    assert len(stored) == 1
    assert [texts.join(row, stored.__getitem__) for row in rows] == bodies
    plain: dict[str, str] = {}
    assert texts.split(dict(bodies[0], skills=list(bodies[0]["skills"])), plain) == rows[0]
    assert plain == stored
