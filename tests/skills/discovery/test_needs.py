"""What a skill needs, as far as it says so itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.discovery.locations import LIBRARY
from goalwright_skills.discovery.needs import COMMANDS, WEB, Need, declared, describe, in_body, needs
from goalwright_skills.skill import Skill
from tests.growth import growth

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({}, []),
        ({"allowed-tools": "Read Write Glob"}, []),
        ({"allowed-tools": "Read, WebFetch"}, [WEB]),
        ({"allowed-tools": ["Read", "WebSearch", "WebFetch"]}, [WEB]),
        ({"allowed-tools": "Bash(git:*) WebFetch(domain:example.org)"}, [COMMANDS, WEB]),
        ({"allowed-tools": "Read Edit Bash(gh issue:*) Bash(gh pr:*)"}, [COMMANDS]),
        ({"allowed-tools": 7}, []),
        ({"compatibility": "Requires internet access to prices.example.com. No authentication needed."}, [WEB]),
        ({"compatibility": "Outbound HTTPS connectivity required to read the documentation."}, [WEB]),
        ({"compatibility": "Cross-platform. Uses web search only — no API keys."}, [WEB]),
        ({"compatibility": "Requires git. Requires terminal access to run commands."}, [COMMANDS]),
        ({"compatibility": "Pure reasoning - no network access, scripts or API keys."}, []),
        ({"compatibility": "If network access is required and missing, cached pages are used."}, []),
        ({"compatibility": "Requires Python 3 and a web framework."}, []),
        ({"compatibility": ["Requires internet access"]}, []),
        ({"metadata": {"requires": "web"}}, [WEB]),
        ({"metadata": {"needs": ["shell", "git"], "author": "web"}}, [COMMANDS]),
        ({"metadata": {"requires": {"bins": ["curl"]}}}, []),
        ({"metadata": "web"}, []),
    ],
)
def test_needs_are_detected_in_the_frontmatter(values: dict[str, Any], what: list[str]) -> None:
    assert [need.capability for need in declared(values)] == what


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("Use WebFetch to read the listing.", True),
        ("Run the search using `web_search`.", True),
        ("You cannot open URLs unless one of\nyour tools does so.", True),
        ("If one of your tools fetches pages, use it.", True),
        ("Do not use WebFetch for this.", False),
        ("If it is there, use WebFetch.", False),
        ("```\nuse WebFetch\n```\nDone.", False),
        ("Write a web page that loads fast. Optimize websites and their URLs.", False),
        ("Your tools are a hammer and a saw.", False),
        ("", False),
    ],
)
def test_needs_are_detected_conservatively_in_the_body(body: str, needed: bool) -> None:
    assert [need.capability for need in in_body(body)] == ([WEB] if needed else [])


def test_a_need_names_its_source() -> None:
    assert in_body("# Title\n\nThen use WebFetch.") == [Need(WEB, "", "use WebFetch", 14)]
    assert declared({"allowed-tools": "WebFetch"}) == [Need(WEB, "allowed-tools", "WebFetch")]


def test_describe_names_unavailable_capabilities() -> None:
    both = [Need(WEB, "", ""), Need(COMMANDS, "", "")]
    assert describe(both, {WEB}) == "web access: available; running commands: not available"
    assert describe([], {WEB}) == ""


def test_two_bundled_skills_need_web_access() -> None:
    files = sorted(LIBRARY.glob("*/SKILL.md"))
    found = {file.parent.name: needs(Skill(file.parent.name, "", str(file), "bundled")) for file in files}
    assert {name: [need.capability for need in given] for name, given in found.items() if given} == {
        "hn-analysis": [WEB],
        "web-extraction": [WEB],
    }


def test_a_changed_file_is_read_again_and_a_missing_one_needs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("---\nname: a\ndescription: b\n---\nUse WebFetch.\n", encoding="utf-8")
    skill = Skill("a", "b", str(file), "project", stamp=11)
    assert [need.capability for need in needs(skill)] == [WEB]
    assert needs(skill, body=False) == ()
    file.write_text("---\nname: a\ndescription: b\n---\nNothing.\n", encoding="utf-8")
    assert needs(Skill("a", "b", str(file), "project", stamp=12)) == ()
    assert needs(Skill("a", "b", str(tmp_path / "gone"), "project")) == ()
    assert needs(Skill("a_b", "b", str(file), "project", "executable")) == ()


def test_long_texts_are_read_quickly() -> None:
    assert declared({"compatibility": "requires " * 20_000}) == []
    assert in_body("your tools open a " * 20_000) == []


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a", "a-", "(", "a(", "()", "a(b) "])
@pytest.mark.parametrize("key", ["allowed-tools", "requires"])
def test_lists_of_tools_are_read_in_time_that_grows_with_them(key: str, text: str) -> None:
    def read(count: int) -> list[Need]:
        listed = f"{text * count}."
        return declared({key: listed, "metadata": {key: listed}})

    assert growth(read, 2_000, 16_000) < 1.5
