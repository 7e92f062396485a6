"""A run keeps the rules it was made by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from weft_planner import rules
from weft_planner.prompting.prompts import Prompts, seed_file

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = "agents:\n  task: {template: task.j2, blocks: {user: [goal]}, needs: [goal]}\n"


@pytest.mark.parametrize(
    ("versions", "number"),
    [
        ({}, 1),
        ({"weft": "0.1.0"}, 1),
        ({"plan_reader": "2"}, 2),
        ({"rules": "3"}, 3),
        ({"rules": "3", "plan_reader": "2"}, 3),
        ({"rules": "new"}, 1),
    ],
)
def test_the_number_is_read_from_the_recorded_versions(versions: dict[str, str], number: int) -> None:
    assert rules.recorded(versions) == number


def test_a_prompt_is_the_one_that_runs_of_these_rules_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "CURRENT", 4)
    for folder, text in {".": "now", "earlier/1": "first", "earlier/3": "third"}.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "task.j2").write_text(f"<% block user %>{text}: <<goal>><% endblock %>")
    (tmp_path / "agents.yaml").write_text(AGENTS)

    def said(made_by: int) -> str:
        return Prompts(seed=tmp_path, made_by=made_by).render("task", "user", {"goal": "g"})

    assert [said(number) for number in (1, 2, 3, 4)] == ["first: g", "third: g", "third: g", "now: g"]
    assert seed_file("agents.yaml", 1, tmp_path) == tmp_path / "agents.yaml"
