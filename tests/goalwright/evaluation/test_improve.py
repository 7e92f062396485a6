"""The gates around edits of a skill: what falls without them, and how cases are split."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright import EvaluationOptions, Goalwright
from goalwright.evaluation.case_files import read_cases
from goalwright.evaluation.improve import gates
from goalwright.evaluation.improve.edit import BadEdit, Edit, applied, patch
from goalwright.evaluation.improve.improve import ImproveOptions, Improver, split
from goalwright.evaluation.preview import workspace_of
from goalwright.evaluation.versions import find_skill, skill_variants
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.workspace.skills import WorkspaceSkills
from goalwright_skills.errors import InputError
from tests.conftest import add_skill
from tests.evaluated import SKILL, TEXT, answering, letters, schema_of
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright.evaluation.trials import Variant

STEP = "Begin with a greeting."


def learns_by_heart(call: Call) -> Answer:
    """Proposes to answer the goals that it was shown, whatever else is asked: the working cases rise, others fall."""
    shown = [word for word in call.user.split() if word.isdigit()]
    if "old" in schema_of(call).get("properties", {}):
        return Say(json.dumps({"old": STEP, "new": f"{STEP}\nOnly for {' '.join(shown)}: sign.", "why": "so"}))

    def answer(goal: str, system: str) -> str:
        number = goal.split()[-1]
        if "Only for" not in system:
            return "Dear Ann" if int(number) % 2 else "Hello"
        return "Dear Ann" if f" {number} " in f" {system.replace(':', ' ')} " else "Hello"

    return answering(answer)(call)


async def test_edit_that_fits_only_the_shown_cases_is_refused(
    tmp_path: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    serve(learns_by_heart)
    add_skill(tmp_path, SKILL, TEXT)
    async with Goalwright(tmp_path, {"model": "openai/test-model"}) as goalwright:
        options = ImproveOptions(rounds=1, evaluation=EvaluationOptions(repeat=1))
        skill = find_skill(goalwright.workspace.skills, SKILL)
        improvement = await Improver(goalwright, skill, read_cases(letters(12)), options).improve()
    assert improvement.patch is None
    assert improvement.rounds[0].gate in ("working", "held-out")


def test_version_replaces_its_skill_and_keeps_the_others(tmp_path: Path) -> None:
    def named(name: str) -> str:
        return TEXT.replace(SKILL, name)

    work, mine = tmp_path / "work", tmp_path / "mine" / "skills"
    work.mkdir()
    for name in ("a", f"group/{SKILL}", "group/b", "group/deep/c", "z"):
        add_skill(tmp_path / "mine", name, named(name.rpartition("/")[2]))
    (mine / "linked").symlink_to(mine / "group")
    settings = resolve({"skills_dir": str(mine)}, {}, work, tmp_path / "config.toml").settings
    paths = Paths.of(work, {})

    def found(variant: Variant) -> list[tuple[str, bytes]]:
        skills = workspace_of(variant, paths, settings).skills
        ours = [skill for skill in skills.active() if skill.source == "project"]
        return [(skill.name, skill.path.read_bytes()) for skill in ours]

    skill = find_skill(WorkspaceSkills(paths, settings), SKILL)
    (tmp_path / "SKILL.md").write_text(TEXT.replace(STEP, "Bow."), encoding="utf-8")
    old, new = skill_variants(skill, str(tmp_path / "SKILL.md"), paths, settings)
    now = found(new)
    assert [name for name, _ in now] == ["a", "b", "c", SKILL, "z"]
    assert found(old) == [(name, text.replace(STEP.encode(), b"Bow.") if name == SKILL else text) for name, text in now]
    add_skill(work, "outside", named("outside"))
    outside = find_skill(WorkspaceSkills(paths, settings), "outside")
    old, new = skill_variants(outside, str(outside.base_dir), paths, settings)
    assert sorted(found(old)) == sorted(found(new))


def test_a_third_of_each_tag_is_held_out() -> None:
    cases = [replace(case, tags=("ab"[number % 2],)) for number, case in enumerate(read_cases(letters(24)))]
    work, held = split(cases)
    assert (len(work), len(held)) == (16, 8)
    assert [sum(case.tags == (tag,) for case in held) for tag in "ab"] == [4, 4]
    assert split(cases) == (work, held)
    assert split([*cases, replace(cases[0], id="unchecked", checks=())]) == (work, held)
    with pytest.raises(InputError, match="9 are needed"):
        split(cases[:8])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit("greeting", "bow", ""), None),
        (Edit("polite", "kind", ""), "occurs 2 times"),
        (Edit("nowhere", "x", ""), "occurs 0 times"),
        (Edit(STEP, STEP, ""), "changes nothing"),
        (Edit(STEP, "\n".join(map(str, range(50))), ""), "more than 40"),
        (Edit("description: Write", "description: Draw", ""), r"frontmatter \(description\)"),
        (Edit("name: polite-letters\n", "", ""), r"frontmatter \(name\)"),
    ],
)
def test_edit_must_be_one_bounded_change(edit: Edit, message: str | None) -> None:
    if message is None:
        assert "bow" in applied(edit, TEXT, most_lines=40, description=False)
        return
    with pytest.raises(BadEdit, match=message):
        applied(edit, TEXT, most_lines=40, description=False)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_edit_keeps_line_ends(newline: str) -> None:
    old, new = f"letters\n\n{STEP}", f"letters\n\n{STEP}\nClose with a bow."
    text = TEXT.replace("\n", newline) + "one\ntwo\r\n"
    changed = applied(Edit(old, new), text, most_lines=40, description=False)
    assert changed == TEXT.replace(old, new).replace("\n", newline) + "one\ntwo\r\n"


def test_description_changes_only_if_allowed() -> None:
    edit = Edit("description: Write", "description: Draw")
    changed = applied(edit, TEXT, most_lines=40, description=True)
    assert "-description: Write polite" in patch(TEXT, changed, "skills/x/SKILL.md")


def test_edit_with_words_of_an_expectation_is_refused_without_quoting_hidden_cases() -> None:
    shown, hidden = read_cases(
        [
            {"id": "a", "goal": "x", "expectations": ["The letter thanks the customer warmly"]},
            {"id": "b", "goal": "y", "expected_output": "Forty-two golden apples"},
        ]
    )
    quoted = Edit(STEP, f"{STEP}\nWrite: The letter thanks the customer warmly!")
    turned = Edit(STEP, f"{STEP}\nWarmly thanks: the customer, the letter.")
    secret = Edit(STEP, f"{STEP}\nSay forty-two  golden apples.")
    fine = Edit(STEP, f"{STEP}\nThank people.")
    assert "thanks the customer" in gates.judge_text(quoted, [shown], [hidden])
    assert gates.judge_text(turned, [shown], [hidden])
    assert gates.judge_text(secret, [shown], [hidden]) == "it contains the words of an expectation"
    assert gates.judge_text(fine, [shown], [hidden]) == ""
    spread = Edit(STEP, f"{STEP}\n- The letter\n- thanks\n- the customer\n- warmly")
    hides = Edit(STEP, f"{STEP}\nSay forty-\u200btwo gol\u00adden \uff41pples.")
    assert gates.judge_text(spread, [shown], [hidden])
    assert gates.judge_text(hides, [shown], [hidden])


def test_held_out_gate_needs_a_rise_and_no_broken_case() -> None:
    before = {"a": [True, True], "b": [False, False], "c": [False, False]}
    assert gates.held_out(before, {"a": [True, True], "b": [True, True], "c": [False, False]}) == ""
    assert "do not rise" in gates.held_out(before, before)
    broken = {"a": [False, False], "b": [True, True], "c": [True, True]}
    assert "always fail" in gates.held_out(before, broken)
    assert gates.held_out(before, broken | {"a": [True, False]}) == ""
    assert "fall" in gates.working({"a": [True]}, {"a": [False]})
