"""The Skill tool loads a skill once, and refuses repeats and cycles."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright_skills.builtin.skill_tool import DEPTH, SkillTool
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path


async def test_result_contains_the_skill(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", body="Review $ARGUMENTS.\n")
    envelope = await SkillTool(registry(tmp_path)).call({"name": "a", "args": "this"})
    content = f"Base directory for this skill: {tmp_path}/skills/a\n\nReview this.\n"
    assert envelope.status == "success"
    assert envelope.text == f'<skill-loaded name="a">\n{content}\n</skill-loaded>'
    assert envelope.data == {"name": "a", "base_dir": f"{tmp_path}/skills/a", "content": content}


async def test_second_load_is_not_repeated(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    tool = SkillTool(registry(tmp_path))
    first, second = await asyncio.gather(tool.call({"name": "a"}), tool.call({"name": "a"}))
    assert "<skill-loaded" in first.text
    assert second.status == "success"
    assert "loaded already" in second.text


async def test_cycles_and_deep_nesting_are_refused(tmp_path: Path) -> None:
    for name in "abcdefg":
        put(tmp_path / f"skills/{name}", name)
    tool = SkillTool(registry(tmp_path), stack=["a"])
    cycle = await tool.call({"name": "a"})
    assert cycle.error is not None
    assert (cycle.error.code, "a -> a" in cycle.text) == ("INVALID_PARAM", True)
    answers = [await tool.call({"name": name}) for name in "bcdefg"]
    assert [answer.status for answer in answers] == ["success"] * (DEPTH - 1) + ["error"] * 2
    assert answers[-1].error is not None
    assert answers[-1].error.code == "INVALID_PARAM"
    assert "loaded already" in (await tool.call({"name": "b"})).text


async def test_errors_have_codes(tmp_path: Path) -> None:
    path = put(tmp_path / "skills/a", "a")
    found = registry(tmp_path, {"SKILLS_REFRESH_ON_CALL": "false"})
    tool = SkillTool(found)
    for arguments, code in (
        ({}, "INVALID_PARAM"),
        ({"name": "a", "args": 3}, "INVALID_PARAM"),
        ({"name": "x"}, "NOT_FOUND"),
    ):
        envelope = await tool.call(arguments)
        assert envelope.error is not None
        assert envelope.error.code == code
    path.write_text("rubbish")
    broken = await tool.call({"name": "a"})
    assert broken.error is not None
    assert broken.error.code == "INTERNAL_ERROR"
    path.unlink()
    gone = await tool.call({"name": "a"})
    assert gone.error is not None
    assert gone.error.code == "EXECUTION_ERROR"


async def test_withheld_skill_loads_only_if_the_task_follows_it(tmp_path: Path) -> None:
    for name in "ab":
        put(tmp_path / f"skills/{name}", name)
    answer = await SkillTool(registry(tmp_path), withheld={"a"}).call({"name": "a"})
    assert answer.error is not None
    assert (answer.error.code, "used only if the user names it" in answer.text) == ("INVALID_PARAM", True)
    assert (await SkillTool(registry(tmp_path), withheld={"a"}).call({"name": "b"})).status == "success"
    own = await SkillTool(registry(tmp_path), stack=["a"], withheld={"a"}).call({"name": "a"})
    assert "already in use" in own.text


def test_description_contains_rules_and_listing(tmp_path: Path) -> None:
    tool = SkillTool(registry(tmp_path), listing="<available_skills>\n</available_skills>")
    assert "never in advance" in tool.description
    assert tool.description.endswith("</available_skills>")
    assert tool.parameters["required"] == ["name"]


async def test_unknown_skill_error_lists_nearest_names(tmp_path: Path) -> None:
    for number in range(14):
        put(tmp_path / f"skills/s{number}", f"s{number}")
    answer = await SkillTool(registry(tmp_path)).call({"name": "s13x"})
    assert answer.text.startswith("there is no skill 's13x'; known skills: s13, ")
    assert answer.text.endswith(" and 4 more — use one of these names")
