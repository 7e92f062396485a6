"""The rules for SKILL.md, each broken once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.check.fixing import fixed
from goalwright_skills.check.parts import split
from goalwright_skills.check.skill_file import check
from goalwright_skills.manage.install import add
from tests.growth import growth

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """---
name: brewing-tea
description: Brews tea by leaf and water. Use when someone asks for tea.
---
# Brewing

See [the table](times.md) and [the site](https://example.org).

Brew: $ARGUMENTS
"""


def rules(text: str, folder: str = "brewing-tea") -> list[str]:
    return [finding.rule for finding in check(text, folder, lambda target: target == "times.md")]


def test_a_good_one_has_no_findings() -> None:
    assert rules(GOOD) == []


def test_every_key_that_skills_may_have_is_known() -> None:
    keys = "license: MIT\nmodel: some/model\narguments: the leaf\nwhen_to_use: at five\nallowed-tools: Read\n"
    assert rules(GOOD.replace("name:", f"{keys}name:")) == []


def test_missing_capabilities_cause_a_warning_on_their_line() -> None:
    declared = GOOD.replace("name: brewing-tea", "name: brewing-tea\nallowed-tools: Read WebFetch")
    (finding,) = check(declared, "brewing-tea", lambda _: True)
    assert (finding.rule, finding.severity, finding.line) == ("needs", "warning", 3)
    assert finding.message == "needs web access (allowed-tools: WebFetch), which tasks lack here"
    assert check(declared, "brewing-tea", lambda _: True, {"web access"}) == []
    (finding,) = check(GOOD.replace("Brew:", "Use WebFetch first. Brew:"), "brewing-tea", lambda _: True)
    assert (finding.line, "(the body: Use WebFetch)" in finding.message) == (9, True)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("---\nname", "name", "frontmatter"),
        ("tea.\n---", "tea.\n", "frontmatter"),
        ("name: brewing-tea", "name: [", "frontmatter"),
        ("name: brewing-tea\n", "", "name"),
        ("name: brewing-tea", "name: Brewing_Tea", "name"),
        ("name: brewing-tea", "name: brewing-coffee", "name-folder"),
        ("description: Brews tea by leaf and water. Use when someone asks for tea.\n", "", "description"),
        ("Brews tea", "Brews tea " * 120, "description"),
        (" Use when someone asks for tea.", "", "trigger"),
        ("Brews tea by leaf and water. Use when someone asks for tea.", "Use tea", "trigger"),
        ("Brews tea", "I can brew tea", "trigger"),
        ("Brews tea", "Helps with tea", "trigger"),
        ("name: brewing-tea", "name: brewing-tea\ncolour: green", "fields"),
        ("name: brewing-tea", "name: brewing-tea\nmetadata: x", "fields"),
        ("name: brewing-tea", "name: brewing-tea\nmetadata:\n  disable-model-invocation: true", "fields"),
        ("name: brewing-tea", "name: brewing-tea\nuser-invocable: never", "fields"),
        ("# Brewing", "# Brewing\n" + "line\n" * 600, "body-length"),
        ("times.md", "absent.md", "link"),
        ("times.md", "/etc/passwd", "link"),
        ("$ARGUMENTS", "${ARGUMENTS}", "arguments"),
        ("$ARGUMENTS", "$ARGUMENT", "arguments"),
        ("$ARGUMENTS", "$ARGUMENTS " * 4, "arguments"),
        ("\n", "\r\n", "file-form"),
    ],
)
def test_each_rule_finds_its_problem(old: str, new: str, rule: str) -> None:
    assert rule in rules(GOOD.replace(old, new))


def test_keys_that_goalwright_reads_beside_the_specification_are_known() -> None:
    keys = "disable-model-invocation: true\nuser-invocable: false\nrequires: [kettle]"
    assert rules(GOOD.replace("name: brewing-tea", f"name: brewing-tea\n{keys}")) == []


def test_an_empty_body_is_an_error() -> None:
    assert "body" in rules(GOOD[: GOOD.index("# Brewing")])


def test_links_in_code_are_not_checked() -> None:
    assert rules(GOOD + "\n```md\n[x](absent.md)\n```\n") == []
    assert rules(GOOD + "\nWrite `[x](absent.md)` there.\n") == []
    assert rules(GOOD + "\nSee [`x`](absent.md).\n") == ["link"]


def test_line_numbers_refer_to_the_file() -> None:
    findings = check(GOOD.replace("times.md", "absent.md"), "other", lambda _target: False)
    assert [(finding.rule, finding.line) for finding in findings] == [("name-folder", 2), ("link", 7)]
    assert all(finding.remedy for finding in findings)


def test_a_colon_or_dashes_in_a_value_do_not_end_the_frontmatter() -> None:
    text = GOOD.replace("Brews tea", "'Brews: --- tea'").replace(
        "by leaf and water. Use when someone asks for tea.", ""
    )
    assert not hasattr(split(text), "rule")


def test_chinese_descriptions_may_be_shorter() -> None:
    text = "---\nname: zh\ndescription: 撰写中文周报，适用于整理每周工作。\n---\n正文\n"
    assert check(text, "zh", lambda _target: True) == []


def messages(text: str, folder: str = "brewing-tea") -> list[str]:
    return [f"{one.severity} {one.message}; {one.remedy}" for one in check(text, folder, lambda _target: True)]


def test_text_above_the_frontmatter_is_reported_and_the_file_is_still_checked() -> None:
    for above in ("<!-- Copyright: me -->\n", "\n\n"):
        findings = check(above + GOOD.replace("brewing-tea", "brewing-coffee"), "brewing-tea", lambda _target: True)
        lines = above.count("\n")
        assert [(one.rule, one.severity, one.line) for one in findings] == [
            ("file-form", "warning", 1),
            ("name-folder", "error", 2 + lines),
        ]


@pytest.mark.parametrize("end", ["...", " ---"])
def test_a_loose_end_of_the_frontmatter_is_reported(end: str) -> None:
    (finding,) = check(GOOD.replace("tea.\n---", f"tea.\n{end}"), "brewing-tea", lambda _target: True)
    assert (finding.rule, finding.severity, finding.line) == ("file-form", "warning", 4)
    quoted = GOOD.replace("description: Brews tea", 'description: "Brews\u2028tea').replace("for tea.", 'for tea."')
    assert rules(quoted) == []  # no line of the file ends there


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: brewing-tea", "name: 123", "error name is a number, not text; put it in quotes"),
        ("name: brewing-tea", "name: yes", "error name is true or false, not text; put it in quotes"),
        ("description: Brews tea", "description:\n  - Brews tea", "error description is a list, not text; write it"),
        (
            "description: Brews",
            "description: x\ndescription: Brews",
            "error description is given more than once, and the last one is used; keep one of them",
        ),
        ("description: Brews", "descripton: Brews", "is ignored; write description"),
        ("name: brewing-tea", "name: brewing-tea\nallowed_tools: Read", "is ignored; write allowed-tools"),
        ("name: brewing-tea", "name: brewing-tea\ncolour: green", "is ignored; move it under metadata, unless"),
        ("description: Brews", "description:\tBrews", "cannot start any token); use spaces, not tabs"),
        ("description: Brews", "description: !!python/name:os.system Brews", "write plain text: tags such as !!x"),
        ("Brews tea", "Brews tea: black", "put the value in double quotes"),
        ("Brews tea", "Brews\x0btea", "position 36); delete that character, which is invisible"),
    ],
)
def test_findings_describe_the_problem_and_the_remedy(old: str, new: str, message: str) -> None:
    found = messages(GOOD.replace(old, new))
    assert any(message in one for one in found), found


def test_a_name_is_only_fixable_if_the_folder_has_a_valid_name() -> None:
    text = GOOD.replace("name: brewing-tea", "name: brewing-coffee")
    assert [finding.fixable for finding in check(text, "brewing-tea", lambda _target: True)] == [True]
    assert not any(finding.fixable for finding in check(GOOD, "Brewing_Tea", lambda _target: True))


def test_findings_come_in_the_order_of_their_lines() -> None:
    text = GOOD.replace("description: Brews", "colour: x\nBrews: Brews").replace("$ARGUMENTS", "$ARGS")
    lines = [one.line for one in check(text, "other", lambda _target: False)]
    assert lines == sorted(lines)
    assert len(set(lines)) > 3


def test_a_programs_own_variables_are_not_misspelled_arguments() -> None:
    program = "\n```bash\nARGS=--fast\nrun $ARGS\n```\n\n~~~php\nf($arguments);\n~~~\n"
    assert rules(GOOD + program) == []
    assert rules(GOOD + "\n```markdown\n# Report on $ARGS\n```\n") == ["arguments"]
    assert rules(GOOD + "\n```\nReport on {{ARGUMENTS}}\n```\nSay `$ARGS`.\n") == ["arguments", "arguments"]


def test_input_and_output_is_not_the_first_person() -> None:
    assert rules(GOOD.replace("Brews tea", "Benchmarks async I/O of tea")) == []


def test_an_unchanged_template_body_is_reported(tmp_path: Path) -> None:
    made = add(tmp_path, "brewing-tea", "Brews tea by leaf and water. Use when someone asks for tea.")
    (finding,) = check(made.read_text(encoding="utf-8"), "brewing-tea", lambda _target: True)
    assert (finding.rule, finding.severity, finding.line) == ("body", "warning", 8)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[a", "[](", "[](a ", "`", "`a` ", "[a](b)\n", "$ARGUMENT ", "```\n"])
def test_a_body_is_checked_in_linear_time(text: str) -> None:
    assert growth(lambda count: check(GOOD + text * count, "brewing-tea", lambda _: False), 1_000, 8_000) < 1.5


@pytest.mark.slow
def test_misspelt_arguments_are_corrected_in_linear_time() -> None:
    assert growth(lambda count: fixed(GOOD + "$ARGUMENT " * count, "brewing-tea"), 4_000, 32_000) < 1.5


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ("[![a](picture.png)](page.md)", "picture.png"),
        ("[a [b](page.md)", "page.md"),
        ("[a](<page.md>)", "page.md"),
        ('[a]( page.md "A (title)" )', "page.md"),
        ("``[a](page.md)`", "page.md"),
        ("`[a](page.md)`", ""),
        ("``[a](page.md)``", ""),
        ("[a](https://example.org/tea_(drink))", ""),
    ],
)
def test_markdown_links_are_found(body: str, broken: str) -> None:
    found = [finding.message for finding in check(f"{GOOD}\n{body}\n", "brewing-tea", lambda t: t == "times.md")]
    assert found == ([f"the link {broken} is broken"] if broken else [])
