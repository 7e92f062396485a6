"""Templates: strict, sandboxed, overridable, and never fed with text from outside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.prompt import variables_of
from goalwright_planner.errors import TemplateError
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.prompts import SEED, Prompts
from goalwright_skills.image_file import Image

if TYPE_CHECKING:
    from pathlib import Path

USER = {"goal": "g", "title": "", "instruction": "do", "results": [], "files": ()}


def override(folder: Path, text: str, name: str = "task.j2") -> Prompts:
    (folder / name).write_text(text, encoding="utf-8")
    return Prompts([folder])


@given(st.text())
def test_variables_are_not_rendered_as_templates(text: str) -> None:
    for evil in (text, f"<<goal>>{text}<% raw %>", f"{{{{ 7*7 }}}}{text}"):
        rendered = Prompts().render("task", "user", USER | {"instruction": evil})
        assert evil.strip() in rendered


def test_every_shipped_template_passes_its_own_check() -> None:
    Prompts().check()


def test_a_users_template_replaces_the_shipped_one(tmp_path: Path) -> None:
    prompts = override(
        tmp_path,
        "<% block system %>mine<% endblock %><% block user %><<goal>> <<instruction>> <<results>><% endblock %>",
    )
    assert prompts.render("task", "system", {}) == "mine"
    assert prompts.render("task", "user", USER) == "g do []"


def test_a_template_written_between_two_runs_is_used_by_the_second(tmp_path: Path) -> None:
    shipped = Prompts([tmp_path]).render("task", "user", USER)
    assert shipped == Prompts().render("task", "user", USER)
    written = override(tmp_path, '<% extends "seed/task.j2" %><% block user %>mine <<super()>><% endblock %>')
    assert written.render("task", "user", USER) == f"mine {shipped}"
    (tmp_path / "task.j2").unlink()
    assert Prompts([tmp_path]).render("task", "user", USER) == shipped


def test_a_template_may_extend_the_shipped_one(tmp_path: Path) -> None:
    prompts = override(tmp_path, '<% extends "seed/task.j2" %><% block system %>other: <<super()>><% endblock %>')
    assert prompts.render("task", "system", {}).startswith("other: You carry out one task")
    assert "<goal>\ng\n</goal>" in prompts.render("task", "user", USER)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("<% block system %>x<% endblock %><% block user %><<goal>><<results>><% endblock %>", "lacks <<instruction>>"),
        ("<% block user %><<goal>><<results>><<instruction>><% endblock %>", "lacks the block system"),
        ("<% block system %>", "is broken"),
        ('<% extends "seed/task.j2" %><% block user %><<goal>><<results>><% endblock %>', "lacks <<instruction>>"),
        (
            (
                "<% block system %><<nonsense>><% endblock %>"
                "<% block user %><<goal>><<results>><<instruction>><% endblock %>"
            ),
            "nonsense",
        ),
        (
            (
                "<% block system %><<''.__class__.__mro__>><% endblock %>"
                "<% block user %><<goal>><<results>><<instruction>><% endblock %>"
            ),
            "unsafe",
        ),
    ],
)
def test_unusable_template_raises_clear_error(tmp_path: Path, template: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says) as caught:
        override(tmp_path, template).render("task", "system", {})
    assert str(tmp_path / "task.j2") in caught.value.message
    assert caught.value.hint


def test_an_error_about_a_missing_template_names_the_folders_searched(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text((SEED / "agents.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(TemplateError, match=r"no template 'task.j2'"):
        Prompts(seed=tmp_path).render("task", "system", {})


REST = "<% block system %>x<% endblock %>"


@pytest.mark.parametrize(
    ("template", "line", "meant"),
    [
        (f"{REST}\n<% block user %>\n<<goal>><<results>><<instruction>>\n<<goals>><% endblock %>", 4, "goal"),
        ('<% extends "seed/task.j2" %>\n<% block user %><<super()>>\n<<instrucion>><% endblock %>', 3, "instruction"),
        ('<% extends "seed/task.j2" %>\n<% block system %>for <% if goal %>it<% endif %><% endblock %>', 2, ""),
    ],
)
def test_an_unknown_variable_is_found_before_anything_is_rendered(
    tmp_path: Path, template: str, line: int, meant: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        override(tmp_path, template).check_overrides()
    assert f"{tmp_path / 'task.j2'}, line {line}: there is no <<" in caught.value.message
    assert (f"did you mean <<{meant}>>?" in caught.value.hint) == bool(meant)
    assert "the variables of the block" in caught.value.hint
    assert caught.value.hint in str(caught.value)


@pytest.mark.parametrize(
    "more",
    [
        "<% if mood is defined %><<mood>><% endif %>",
        "<<mood | default('calm')>>",
        "<% for number in range(2) %><<loop.index>> <<number>><% endfor %>",
        "<% set mood = goal %><<mood>>",
    ],
)
def test_optional_and_locally_set_variables_are_accepted(tmp_path: Path, more: str) -> None:
    prompts = override(tmp_path, f'<% extends "seed/task.j2" %><% block user %><<super()>>{more}<% endblock %>')
    prompts.check()
    assert "do" in prompts.render("task", "user", USER)


def test_all_broken_templates_are_reported_at_once(tmp_path: Path) -> None:
    override(tmp_path, "<% block system %>")
    prompts = override(tmp_path, '<% extends "seed/task.j2" %><% include "gone.j2" %>', "synthesis.j2")
    with pytest.raises(TemplateError, match=r"task\.j2, line 1 is broken: .*; there is no template 'gone.j2'"):
        prompts.check()


def test_the_decomposer_gets_exactly_the_variables_that_agents_yaml_names() -> None:
    image = Image("a.png", "image/png", "0" * 64, 70, 1, 1)
    brief = Brief("g", "", "", "today", Known([], {"a": {}}, 9), images=(image,))
    handed = variables_of(replace(brief, called=("a",))) | variables_of(replace(brief, goal="Functions: now()"))
    agents = yaml.safe_load((SEED / "agents.yaml").read_text(encoding="utf-8"))["agents"]
    for name in ("decomposer", "decomposer-small"):
        assert set(agents[name]["blocks"]["system"]) == set(agents[name]["blocks"]["user"]) == set(handed)
