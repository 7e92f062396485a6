"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from goalwright_skills.text.plural import counted, plural


@pytest.mark.parametrize(("number", "text"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1234, "1,234 tasks")])
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "task") == text


def test_an_irregular_plural_is_given() -> None:
    assert counted(1, "retry", "retries") == "1 retry"
    assert counted(3, "retry", "retries") == "3 retries"
    assert plural(2, "is", "are") == "are"
