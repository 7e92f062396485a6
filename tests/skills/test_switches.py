"""Environment variables of skills: what is understood, and what is told of."""

from __future__ import annotations

import pytest

from skills import switches


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("SKILLS_PROMPT_CHAR_BUDGET", "abc", "a whole number"),
        ("SKILLS_PROMPT_CHAR_BUDGET", "-5", "a whole number"),
        ("SKILLS_REFRESH_ON_CALL", "fales", "true or false"),
        ("SKILL_CODE_REVIEW_ENABLED", "never", "true or false"),
    ],
)
def test_a_value_that_means_nothing_is_told_of_by_name(name: str, value: str, wants: str) -> None:
    (said,) = switches.faults({name: value, "PATH": "abc", "SKILL_LEVEL": "high"})
    assert f"{name}={value} is not used" in said
    assert wants in said


def test_what_is_understood_or_empty_is_not_told_of() -> None:
    understood = {
        "SKILLS_PROMPT_CHAR_BUDGET": " 500 ",
        "SKILLS_REFRESH_ON_CALL": "Off",
        "SKILL_A_ENABLED": "yes",
        "SKILL_B_ENABLED": "",
    }
    assert list(switches.faults(understood)) == []
    assert list(switches.faults({})) == []
