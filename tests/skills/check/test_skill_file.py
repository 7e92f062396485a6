"""The rules for SKILL.md, each broken once."""

from __future__ import annotations

import pytest

from skills.check.skill_file import check, split

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
        ("# Brewing", "# Brewing\n" + "line\n" * 600, "body-length"),
        ("times.md", "absent.md", "link"),
        ("times.md", "/etc/passwd", "link"),
        ("$ARGUMENTS", "${ARGUMENTS}", "arguments"),
        ("$ARGUMENTS", "$ARGUMENT", "arguments"),
        ("$ARGUMENTS", "$ARGUMENTS " * 4, "arguments"),
        ("\n", "\r\n", "file-form"),
    ],
)
def test_each_rule_finds_its_fault(old: str, new: str, rule: str) -> None:
    assert rule in rules(GOOD.replace(old, new))


def test_an_empty_body_is_an_error() -> None:
    assert "body" in rules(GOOD[: GOOD.index("# Brewing")])


def test_links_in_code_are_no_links() -> None:
    assert rules(GOOD + "\n```md\n[x](absent.md)\n```\n") == []
    assert rules(GOOD + "\nWrite `[x](absent.md)` there.\n") == []
    assert rules(GOOD + "\nSee [`x`](absent.md).\n") == ["link"]


def test_lines_are_the_files_own() -> None:
    findings = check(GOOD.replace("times.md", "absent.md"), "other", lambda _target: False)
    assert [(finding.rule, finding.line) for finding in findings] == [("name-folder", 2), ("link", 7)]
    assert all(finding.remedy for finding in findings)


def test_a_colon_or_dashes_in_a_value_do_not_end_the_frontmatter() -> None:
    text = GOOD.replace("Brews tea", "'Brews: --- tea'").replace(
        "by leaf and water. Use when someone asks for tea.", ""
    )
    assert not hasattr(split(text), "rule")


def test_a_short_description_in_chinese_says_as_much_as_a_longer_one() -> None:
    text = "---\nname: zh\ndescription: 撰写中文周报，适用于整理每周工作。\n---\n正文\n"
    assert check(text, "zh", lambda _target: True) == []
