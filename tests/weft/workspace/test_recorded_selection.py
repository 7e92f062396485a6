"""A replay of a run that selected by earlier rules takes names and order from its record."""

from __future__ import annotations

from weft.workspace.recorded_selection import RecordedSelection
from weft_executor.history.run_history import RunHistory
from weft_planner.events import CatalogueTaken, SkillsSelected
from weft_skills.selection.detector import Selection
from weft_skills.skill import Skill


def skill(name: str) -> Skill:
    return Skill(name=name, description=f"Does {name}.", file=f"/s/{name}/SKILL.md", source="project")


LISTING = (
    "<available_skills>\n<skill>\n<name>b</name>\n</skill>\n<skill>\n<name>a</name>\n</skill>\n</available_skills>"
)


def test_what_was_selected_comes_first_and_then_the_order_of_the_listing() -> None:
    history = RunHistory(
        catalogue=CatalogueTaken((), LISTING, ""), selected=SkillsSelected("ranked", (Selection("b", 0.7, "fits"),), 3)
    )
    then = RecordedSelection.of(history)
    assert then is not None
    skills = [skill("a"), skill("b"), skill("c")]
    assert then.detect("any goal", skills) == [Selection("b", 0.7, "fits")]
    assert [one.name for one in then.rank("any goal", skills, 30)] == ["b", "a"]
    assert then.most == 2


def test_a_skill_that_is_gone_is_left_out() -> None:
    then = RecordedSelection((Selection("b", 0.7, "fits"),), ("b", "a"))
    assert then.detect("any goal", [skill("a")]) == []
    assert [one.name for one in then.rank("any goal", [skill("a")], 30)] == ["a"]


def test_a_run_that_stopped_before_it_selected_has_none() -> None:
    assert RecordedSelection.of(RunHistory()) is None
