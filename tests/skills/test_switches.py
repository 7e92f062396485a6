"""The environment variables that control skills: valid and invalid values."""

from __future__ import annotations

import pytest

from goalwright_skills import switches


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("SKILLS_PROMPT_CHAR_BUDGET", "abc", "a whole number"),
        ("SKILLS_PROMPT_CHAR_BUDGET", "-5", "a whole number"),
        ("SKILLS_REFRESH_ON_CALL", "fales", "true or false"),
        ("SKILL_CODE_REVIEW_ENABLED", "never", "true or false"),
    ],
)
def test_an_invalid_value_is_reported_with_its_name(name: str, value: str, wants: str) -> None:
    (message,) = switches.faults({name: value, "PATH": "abc", "SKILL_LEVEL": "high"})
    assert f"{name}={value} is ignored" in message
    assert wants in message


def test_valid_and_empty_values_are_not_reported() -> None:
    valid = {
        "SKILLS_PROMPT_CHAR_BUDGET": " 500 ",
        "SKILLS_REFRESH_ON_CALL": "Off",
        "SKILL_A_ENABLED": "yes",
        "SKILL_B_ENABLED": "",
    }
    assert list(switches.faults(valid)) == []
    assert list(switches.faults({})) == []
