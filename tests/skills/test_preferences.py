"""What a user decides about skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.discovery.registry import Registry
from goalwright_skills.preferences import Preferences
from goalwright_skills.skill import Skill
from tests.skills.tree import put

if TYPE_CHECKING:
    from pathlib import Path


def skill(name: str, **extra: Any) -> Skill:
    return Skill(
        name, "Does it.", f"/{name}/SKILL.md", "project", extra={k.replace("_", "-"): v for k, v in extra.items()}
    )


@pytest.mark.parametrize(
    ("value", "manual"), [(True, True), ("true", True), ("Yes", True), (False, False), ("no", False), (None, False)]
)
def test_an_author_can_leave_a_skill_to_people(value: Any, manual: bool) -> None:
    author = skill("a", disable_model_invocation=value)
    assert Preferences().is_manual(author) is manual
    assert Preferences().selectable([author]) == ([] if manual else [author])


@pytest.mark.parametrize(("value", "callable_"), [(False, False), ("false", False), (True, True), ("", True)])
def test_an_author_can_keep_people_from_calling_a_skill(value: Any, callable_: bool) -> None:
    assert skill("a", user_invocable=value).user_invocable is callable_


def test_the_users_pin_counts_before_the_authors_word_and_manual_before_pin() -> None:
    author, other = skill("a", disable_model_invocation=True), skill("b")
    assert Preferences(pin=("a",)).selectable([author, other]) == [author, other]
    both = Preferences(pin=("b",), manual=("b",))
    assert both.selectable([author, other]) == []
    assert both.by_name_only([author, other]) == [author, other]


def test_what_was_decided_is_noted() -> None:
    decided = Preferences(pin=("a",), require=("a", "b"), manual=("c",))
    assert decided.notes(skill("a")) == ["required", "pinned"]
    assert decided.notes(skill("b", user_invocable=False)) == ["required", "not called by name"]
    assert decided.notes(skill("c")) == ["manual"]
    assert decided.notes(skill("d")) == []


def test_unknown_names_and_contradictions_are_told() -> None:
    decided = Preferences(pin=("code-revue",), manual=("a", "b"), off=("a",), require=("a",))
    assert decided.faults([skill("code-review"), skill("a"), skill("b")]) == [
        "[skills] pin names 'code-revue', and there is no such skill; the nearest names are code-review, a, b",
        "[skills] names 'a' under both off and require: off counts",
        "[skills] names 'a' under both off and manual: off counts",
    ]
    assert Preferences(off=("a",)).faults([]) == ["[skills] off names 'a', and there is no such skill"]
    left_out = Preferences(require=("a",), without=("a", "code-revue"))
    assert left_out.faults([skill("code-review"), skill("a")]) == [
        "skills_without names 'code-revue', and there is no such skill; the nearest names are code-review, a",
        "skills_without names 'a', which [skills] require names too: skills_without counts",
    ]


def test_installed_tools_can_be_off_and_nothing_else() -> None:
    names = {"excel", "excel_read"}
    assert Preferences(off=("excel",), without=("excel_read",)).faults([], names) == []
    assert Preferences(off=("exel_read",), pin=("excel_read",)).faults([], names) == [
        "[skills] pin names 'excel_read', which is a tool: the list is for skills",
        "[skills] off names 'exel_read', and there is no such skill; the nearest names are excel_read, excel",
    ]


def test_a_skill_or_the_tools_of_a_folder_are_switched_off(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    put(tmp_path / "skills/b", "b")
    tool = tmp_path / "skills/page"
    tool.mkdir()
    (tool / "main.py").write_text("", encoding="utf-8")
    text = "name: page_read\ndescription: Reads a page.\nruntime: python\nentry: main.py\n"
    (tool / "skill.yaml").write_text(text, encoding="utf-8")
    off = ("a", "page")
    found = Registry(tmp_path, env={}, home=tmp_path / "home", library=tmp_path / "library", off=off)
    assert [one.name for one in found.list_skills()] == ["b"]
    rows = {one.name: (one.state, one.reason) for one in found.list_skills(all=True)}
    assert rows["a"] == rows["page_read"] == ("disabled", "disabled by [skills] off")
    assert Preferences(off=off).faults(found.list_skills(all=True)) == []
    flagged = Registry(
        tmp_path, env={}, home=tmp_path / "home", library=tmp_path / "library", off=("a",), without=("a", "b", "page")
    )
    reasons = {one.name: one.reason for one in flagged.list_skills(all=True)}
    named = "left out of this run"
    assert reasons == {"a": "disabled by [skills] off", "b": named, "page_read": named}
    assert Preferences(without=off).faults(flagged.list_skills(all=True)) == []
